#include "heed/jinja/values/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/jinja/values/unicode.h"

namespace heed::jinja {
namespace {

std::string_view without_outer_space(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = code_point_at(text, 0);
    if (!is_space(point.value)) break;
    text.remove_prefix(point.length);
  }
  return without_trailing_space(text);
}

bool is_word(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/// Without underscores, which may stand alone between digits; nullopt if one does not.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_')
      digits += text[i];
    else if (i == 0 || i + 1 == text.size() || !is_word(text[i - 1]) || !is_word(text[i + 1]))
      return std::nullopt;
  }
  return digits;
}

bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return negative;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text, int base) {
  text = without_outer_space(text);
  const bool negative = take_sign(text);
  const char letter = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  const int prefixed = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  if (prefixed != 0 && (base == 0 || base == prefixed)) {
    text.remove_prefix(2);
    if (text.starts_with('_')) text.remove_prefix(1);
    base = prefixed;
  }
  const auto digits = without_underscores(text);
  if (!digits || digits->empty() || !is_word((*digits)[0])) return std::nullopt;
  if (base == 0 && (*digits)[0] == '0' && digits->find_first_not_of('0') != std::string::npos)
    return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), value,
                                            base == 0 ? 10 : base);
  if (error != std::errc() || end != digits->data() + digits->size()) return std::nullopt;
  const uint64_t limit = uint64_t{std::numeric_limits<int64_t>::max()} + (negative ? 1 : 0);
  if (value > limit) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<double> parse_float(std::string_view text) {
  text = without_outer_space(text);
  const bool negative = take_sign(text);
  const std::string word = lower_case(text);
  const double sign = negative ? -1.0 : 1.0;
  if (word == "inf" || word == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  const auto digits = without_underscores(text);
  if (!digits || digits->empty() || !(is_word((*digits)[0]) || (*digits)[0] == '.'))
    return std::nullopt;
  if (digits->find_first_not_of("0123456789.eE+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(digits->c_str(), &end);
  if (end != digits->c_str() + digits->size()) return std::nullopt;
  return sign * value;
}

}  // namespace heed::jinja
