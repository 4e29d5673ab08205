#include "heed/serve/classified_tokens.h"

#include "heed/serve/api_error.h"

namespace heed::serve {

std::string first_tokens(const Tokenizer& tokenizer, std::string text, int64_t count) {
  const Encoding encoding =
      tokenizer.encode_with_offsets(text, {.special = false, .max_tokens = count});
  if (std::ssize(encoding.ids) == count) text.resize(encoding.offsets.back().end);
  return text;
}

std::string without_unread_end(const Model& model, const Tokenizer& tokenizer, std::string text) {
  constexpr int64_t kBytesPerToken = 32;
  const int64_t limit = model.max_classified_tokens();
  if (limit == 0 || std::ssize(text) <= limit * kBytesPerToken) return text;
  return first_tokens(tokenizer, std::move(text), limit);
}

int64_t tokens_read(const Model& model, int64_t tokens, bool truncate, const std::string& field) {
  const int64_t limit = model.max_classified_tokens();
  if (limit == 0 || tokens <= limit) return tokens;
  if (!truncate) throw input_too_long(field, tokens, limit);
  return limit;
}

}  // namespace heed::serve
