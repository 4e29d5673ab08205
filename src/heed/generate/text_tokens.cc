#include "heed/generate/text_tokens.h"

#include <algorithm>

namespace heed::generate {
namespace {

/// The number of tokens of `whole` before `plain`, which it contains.
size_t tokens_before(const std::vector<int32_t>& whole, const std::vector<int32_t>& plain) {
  for (size_t before = 0; before + plain.size() <= whole.size(); ++before)
    if (std::equal(plain.begin(), plain.end(), whole.begin() + static_cast<std::ptrdiff_t>(before)))
      return before;
  return 0;
}

}  // namespace

TextTokens tokens_within(const text::Tokenizer& tokenizer, std::string_view text, int64_t most) {
  TextTokens result{.ids = tokenizer.encode(text)};
  const std::vector<int32_t> plain = tokenizer.encode(text, false);
  const size_t before = tokens_before(result.ids, plain);
  const auto limit = static_cast<size_t>(most);
  size_t kept = plain.size();
  if (limit > 0 && result.ids.size() > limit) {
    kept = limit - std::min(limit, result.ids.size() - plain.size());
    result.ids.erase(result.ids.begin() + static_cast<std::ptrdiff_t>(before + kept),
                     result.ids.begin() + static_cast<std::ptrdiff_t>(before + plain.size()));
    result.ids.resize(std::min(result.ids.size(), limit));
  }
  result.begin = static_cast<int64_t>(std::min(before, result.ids.size()));
  result.end = static_cast<int64_t>(std::min(before + kept, result.ids.size()));
  return result;
}

std::vector<int32_t> ids_within(const text::Tokenizer& tokenizer, std::string_view text,
                                int64_t most) {
  std::vector<int32_t> whole = tokenizer.encode(text);
  if (most == 0 || std::ssize(whole) <= most) return whole;
  return tokens_within(tokenizer, text, most).ids;
}

}  // namespace heed::generate
