#include "heed/constrain/schema/decimal.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::constrain {

Decimal Decimal::parse(std::string_view number) {
  Decimal result;
  result.negative = number.starts_with('-');
  const size_t e = number.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view power = number.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto read = std::from_chars(power.data(), power.data() + power.size(), result.exponent);
    require(read.ec == std::errc() && std::abs(result.exponent) <= kMaxDigits,
            "the number {} has more than {} digits", quoted(number), kMaxDigits);
  }
  bool behind_point = false;
  for (const char c : number.substr(0, e)) {
    if (c == '.') behind_point = true;
    if (c < '0' || c > '9') continue;
    if (behind_point) --result.exponent;
    if (c != '0' || !result.digits.empty()) result.digits += c;
  }
  while (result.digits.ends_with('0')) {
    result.digits.pop_back();
    ++result.exponent;
  }
  if (result.digits.empty()) return {};
  const int64_t length = static_cast<int64_t>(result.digits.size());
  if (std::max(length + result.exponent, -result.exponent) > kMaxDigits) {
    fail("the number {} has more than {} digits", quoted(number), kMaxDigits);
  }
  return result;
}

std::string Decimal::integer_part() const {
  const int64_t length = static_cast<int64_t>(digits.size()) + exponent;
  if (length <= 0) return "0";
  std::string result = digits.substr(0, static_cast<size_t>(length));
  result.resize(static_cast<size_t>(length), '0');
  return result;
}

std::string Decimal::fraction() const {
  if (exponent >= 0) return {};
  const int64_t length = static_cast<int64_t>(digits.size()) + exponent;
  if (length >= 0) return digits.substr(static_cast<size_t>(length));
  return std::string(static_cast<size_t>(-length), '0') + digits;
}

std::string Decimal::plain() const {
  std::string result = negative ? "-" : "";
  result += integer_part();
  if (exponent < 0) result += "." + fraction();
  return result;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const std::string left = a.integer_part(), right = b.integer_part();
  int order = 0;
  if (left.size() != right.size()) {
    order = left.size() < right.size() ? -1 : 1;
  } else {
    order = left.compare(right);
    if (order == 0) order = a.fraction().compare(b.fraction());
  }
  return a.negative ? -order : order;
}

}  // namespace heed::constrain
