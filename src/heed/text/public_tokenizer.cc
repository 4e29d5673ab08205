#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/text/files/tokenizer_path.h"
#include "heed/text/tokenizer.h"
#include "heed/text/training/train_tokenizer.h"
#include "heed/tokenizer.h"

namespace heed {
namespace {

/// Calls read(i) for each of `count` texts on the threads of `executor`; its Errors name the text.
template <typename Read>
void for_each_text(size_t count, const std::shared_ptr<Executor>& executor, const Read& read) {
  const ExecutorScope scope(executor ? *executor : *Executor::shared());
  // Few texts to a chunk: their lengths differ.
  constexpr int64_t kTexts = 16;
  parallel_in_order(static_cast<int64_t>(count), kTexts, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      try {
        read(i);
      } catch (const Error& error) {
        fail("text {}: {}", i + 1, error.what());
      }
    }
  });
}

}  // namespace

Tokenizer::Tokenizer(text::Tokenizer tokenizer)
    : tokenizer_(std::make_shared<const text::Tokenizer>(std::move(tokenizer))) {}

Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::filesystem::path& path) {
  return Tokenizer(text::read_tokenizer(path));
}

Tokenizer Tokenizer::train(const std::vector<std::string>& texts,
                           const TrainTokenizerOptions& options) {
  return Tokenizer(text::train_tokenizer(texts, options));
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, bool special) const {
  return tokenizer_->encode(text, special);
}

std::vector<std::vector<int32_t>> Tokenizer::encode_batch(
    std::span<const std::string> texts, bool special,
    const std::shared_ptr<Executor>& executor) const {
  std::vector<std::vector<int32_t>> ids(texts.size());
  for_each_text(texts.size(), executor, [&](size_t i) { ids[i] = encode(texts[i], special); });
  return ids;
}

Encoding Tokenizer::encode_with_offsets(std::string_view text, const EncodeOptions& options) const {
  return tokenizer_->encode_with_offsets(text, std::nullopt, options);
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                const EncodeOptions& options) const {
  return tokenizer_->encode_with_offsets(first, second, options);
}

std::vector<Encoding> Tokenizer::encode_batch_with_offsets(
    std::span<const std::string> texts, const EncodeOptions& options,
    const std::shared_ptr<Executor>& executor) const {
  std::vector<Encoding> encodings(texts.size());
  for_each_text(texts.size(), executor,
                [&](size_t i) { encodings[i] = encode_with_offsets(texts[i], options); });
  return encodings;
}

std::string Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  return tokenizer_->decode(ids, skip_special);
}

const std::string& Tokenizer::token(int32_t id) const { return tokenizer_->piece(id); }

std::optional<int32_t> Tokenizer::token_id(std::string_view token) const {
  return tokenizer_->id_of(token);
}

int64_t Tokenizer::vocab_size() const { return tokenizer_->vocab_size(); }

const SpecialTokens& Tokenizer::special_tokens() const { return tokenizer_->special_tokens(); }

bool Tokenizer::is_special(int32_t id) const { return tokenizer_->is_special(id); }

std::vector<AddedToken> Tokenizer::added_tokens() const {
  std::vector<AddedToken> tokens;
  for (const int32_t id : tokenizer_->added_tokens())
    tokens.push_back({id, token(id), is_special(id)});
  return tokens;
}

const std::vector<std::pair<std::string, std::string>>& Tokenizer::files() const {
  return tokenizer_->files();
}

const std::vector<std::string>& Tokenizer::warnings() const { return tokenizer_->warnings(); }

void Tokenizer::save(const std::filesystem::path& directory) const {
  const auto& named = files();
  make_directory(directory);
  for (const auto& [name, contents] : named) write_file_atomically(directory / name, contents);
}

heed::Tokenizer text::wrapped(const text::Tokenizer& tokenizer) {
  return heed::Tokenizer(tokenizer);
}

const text::Tokenizer& text::unwrapped(const heed::Tokenizer& tokenizer) {
  return *tokenizer.tokenizer_;
}

DecodeStream::DecodeStream(const Tokenizer& tokenizer, bool skip_special)
    : stream_(std::make_unique<text::DecodeStream>(text::unwrapped(tokenizer), skip_special)) {}

DecodeStream::DecodeStream(DecodeStream&&) noexcept = default;
DecodeStream& DecodeStream::operator=(DecodeStream&&) noexcept = default;
DecodeStream::~DecodeStream() = default;

std::string DecodeStream::feed(int32_t id) { return stream_->feed(id); }

std::string DecodeStream::finish() { return stream_->finish(); }

}  // namespace heed
