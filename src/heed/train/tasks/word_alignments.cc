#include "heed/train/tasks/word_alignments.h"

#include "heed/base/error.h"
#include "heed/base/text_lines.h"
#include "heed/data/word_alignment.h"

namespace heed::train {
namespace {

std::string key_of(const data::SentencePair& pair) { return pair.source + '\t' + pair.target; }

/// The word of each token; -1 for tokens that belong to no text.
template <typename PieceOf>
std::vector<int32_t> words_of(const std::vector<int32_t>& tokens,
                              const text::TranslationTokenizer& tokenizer,
                              const PieceOf& piece_of) {
  std::vector<int32_t> text;
  for (const int32_t token : tokens)
    if (!tokenizer.is_special(token)) text.push_back(token);
  const std::vector<int32_t> numbers = data::word_numbers(text, piece_of);
  std::vector<int32_t> words;
  auto next = numbers.begin();
  for (const int32_t token : tokens) words.push_back(tokenizer.is_special(token) ? -1 : *next++);
  return words;
}

}  // namespace

WordAlignments::WordAlignments(const std::filesystem::path& file,
                               const std::vector<data::SentencePair>& pairs) {
  size_t lines = 0;
  for_each_line(file, [&](std::string_view line, size_t number) {
    lines = number;
    if (number > pairs.size()) return;
    hash_ = data::hash_after(hash_, line);
    try {
      links_.try_emplace(key_of(pairs[number - 1]), data::parse_pharaoh(line));
    } catch (const Error& error) {
      fail("{} line {}: {}", file.string(), number, error.what());
    }
  });
  require(lines == pairs.size(), "{} has {} lines, and the training text has {} pairs",
          file.string(), lines, pairs.size());
}

void WordAlignments::add_to(data::Fingerprint& fingerprint) const {
  if (!links_.empty()) fingerprint.hash ^= hash_;
}

std::vector<data::Link> WordAlignments::links_of(
    const data::SentencePair& pair, const data::Example& tokens,
    const text::TranslationTokenizer& tokenizer) const {
  const auto found = links_.find(key_of(pair));
  if (found == links_.end()) return {};
  return data::token_links(
      found->second,
      words_of(tokens.source, tokenizer,
               [&](int32_t token) { return tokenizer.source_piece(token); }),
      words_of(tokens.target, tokenizer, [&](int32_t token) { return tokenizer.piece(token); }));
}

}  // namespace heed::train
