#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed::constrain {

/// A decimal number of any length, exact: digits * 10^exponent.
struct Decimal {
  bool negative = false;  // never of zero
  std::string digits;     // without zeros at either end; "" is zero
  int64_t exponent = 0;   // 0 for zero

  /// Reads a JSON number. Throws Error if its plain notation has more than kMaxDigits digits.
  static Decimal parse(std::string_view number);
  static constexpr int64_t kMaxDigits = 400;

  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return exponent >= 0; }
  /// Digits before the decimal point, "0" if there are none, and those behind it, without zeros at
  /// the end; of the absolute value.
  std::string integer_part() const;
  std::string fraction() const;
  /// Without an exponent: "-0.05", "120".
  std::string plain() const;

  friend bool operator==(const Decimal& a, const Decimal& b) {
    return a.negative == b.negative && a.digits == b.digits && a.exponent == b.exponent;
  }
};

/// Less than 0, 0 or greater than 0, as a < b, a == b or a > b.
int compare(const Decimal& a, const Decimal& b);

}  // namespace heed::constrain
