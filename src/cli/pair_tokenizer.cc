#include "cli/pair_tokenizer.h"

#include "heed/base/error.h"

namespace heed::cli {
namespace {

using One = text::Tokenizer;
using Two = text::TranslationTokenizer;

std::variant<One, Two> load(const ModelOptions& options, const model::Transformer& model) {
  if (!Two::exists(options.path)) return load_tokenizer(options, model);
  Two two = Two::load(options.path);
  require(two.vocab_size() == model.config().vocab_size,
          "{}: the tokenizer has {} pieces, the model's vocabulary {}", options.path,
          two.vocab_size(), model.config().vocab_size);
  return two;
}

}  // namespace

PairTokenizer::PairTokenizer(const ModelOptions& options, const model::Transformer& model)
    : tokenizer_(load(options, model)) {}

std::vector<int32_t> PairTokenizer::encode_source(std::string_view text) const {
  const Two* two = std::get_if<Two>(&tokenizer_);
  return two ? two->encode_source(text) : std::get<One>(tokenizer_).encode(text);
}

std::vector<int32_t> PairTokenizer::encode_target(std::string_view text) const {
  const Two* two = std::get_if<Two>(&tokenizer_);
  return two ? two->encode_target(text) : std::get<One>(tokenizer_).encode(text);
}

std::string PairTokenizer::word(int32_t token) const {
  const Two* two = std::get_if<Two>(&tokenizer_);
  return two ? two->piece(token) : std::get<One>(tokenizer_).decode(std::vector{token}, false);
}

}  // namespace heed::cli
