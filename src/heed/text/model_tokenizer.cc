#include "heed/text/model_tokenizer.h"

#include "heed/base/error.h"

namespace heed::text {

std::vector<int32_t> ModelTokenizer::encode_source(std::string_view text) const {
  const TranslationTokenizer* two = translation_tokenizer();
  return two ? two->encode_source(text) : std::get<Tokenizer>(tokenizer_).encode(text);
}

std::vector<int32_t> ModelTokenizer::encode_target(std::string_view text) const {
  const TranslationTokenizer* two = translation_tokenizer();
  return two ? two->encode_target(text) : std::get<Tokenizer>(tokenizer_).encode(text);
}

std::string ModelTokenizer::decode_target(std::span<const int32_t> tokens) const {
  const TranslationTokenizer* two = translation_tokenizer();
  return two ? two->decode_target(tokens) : std::get<Tokenizer>(tokenizer_).decode(tokens);
}

std::string ModelTokenizer::piece(int32_t token) const {
  try {
    return std::visit([&](const auto& tokenizer) { return tokenizer.piece(token); }, tokenizer_);
  } catch (const Error&) {
    return "";
  }
}

std::string ModelTokenizer::readable(int32_t token) const {
  if (const TranslationTokenizer* two = translation_tokenizer()) return two->piece(token);
  return std::get<Tokenizer>(tokenizer_).decode(std::vector{token}, false);
}

std::string ModelTokenizer::token_bytes(int32_t token) const {
  const TranslationTokenizer* two = translation_tokenizer();
  return two ? two->token_bytes(token) : std::get<Tokenizer>(tokenizer_).token_bytes(token);
}

int64_t ModelTokenizer::vocab_size() const {
  return std::visit([](const auto& tokenizer) { return tokenizer.vocab_size(); }, tokenizer_);
}

const std::vector<std::string>& ModelTokenizer::warnings() const {
  return std::visit(
      [](const auto& own) -> const auto& { return own.warnings(); }, tokenizer_);
}

}  // namespace heed::text
