#include "heed/tasks/text_tokens.h"

#include <algorithm>

namespace heed::tasks {
namespace {

/// The number of tokens of `whole` before `plain`, which it contains.
size_t tokens_before(const std::vector<int32_t>& whole, const std::vector<int32_t>& plain) {
  for (size_t before = 0; before + plain.size() <= whole.size(); ++before)
    if (std::equal(plain.begin(), plain.end(), whole.begin() + static_cast<std::ptrdiff_t>(before)))
      return before;
  return 0;
}

}  // namespace

TextTokens tokens_within(const text::Tokenizer& tokenizer, std::string_view text,
                         const TokenLimit& limit) {
  TextTokens result{.ids = tokenizer.encode(text)};
  const std::vector<int32_t> plain = tokenizer.encode(text, false);
  const size_t before = tokens_before(result.ids, plain);
  const auto most = static_cast<size_t>(limit.most);
  size_t kept = plain.size();
  if (most > 0 && result.ids.size() > most) {
    kept = most - std::min(most, result.ids.size() - plain.size());
    const auto first = result.ids.begin() + static_cast<std::ptrdiff_t>(before);
    const auto surplus = static_cast<std::ptrdiff_t>(plain.size() - kept);
    const auto cut = limit.truncate_left ? first : first + static_cast<std::ptrdiff_t>(kept);
    result.cut = limit.truncate_left ? surplus : 0;
    result.ids.erase(cut, cut + surplus);
    result.ids.resize(std::min(result.ids.size(), most));
  }
  result.begin = static_cast<int64_t>(std::min(before, result.ids.size()));
  result.end = static_cast<int64_t>(std::min(before + kept, result.ids.size()));
  return result;
}

std::vector<int32_t> ids_within(const text::Tokenizer& tokenizer, std::string_view text,
                                const TokenLimit& limit) {
  std::vector<int32_t> whole = tokenizer.encode(text);
  if (limit.most == 0 || std::ssize(whole) <= limit.most) return whole;
  return tokens_within(tokenizer, text, limit).ids;
}

}  // namespace heed::tasks
