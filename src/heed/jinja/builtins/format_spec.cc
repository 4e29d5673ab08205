#include "heed/jinja/builtins/format_spec.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heed/base/utf8.h"
#include "heed/jinja/operators.h"
#include "heed/jinja/runtime.h"
#include "heed/jinja/values/repr.h"

namespace heed::jinja {
namespace {

constexpr int64_t kMaxWidth = int64_t{1} << 20, kMaxPrecision = 400;

bool is_integer_type(char type) {
  return std::string_view("bcdoxX").find(type) != std::string_view::npos;
}
bool is_align(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

std::string integer_digits(uint64_t value, const FormatSpec& spec) {
  switch (spec.type) {
    case 'x':
      return fmt::format("{}{:x}", spec.alternate ? "0x" : "", value);
    case 'X':
      return fmt::format("{}{:X}", spec.alternate ? "0X" : "", value);
    case 'o':
      return fmt::format("{}{:o}", spec.alternate ? "0o" : "", value);
    case 'b':
      return fmt::format("{}{:b}", spec.alternate ? "0b" : "", value);
    default:
      return std::to_string(value);
  }
}

std::string real_digits(double value, const FormatSpec& spec) {
  if (!std::isfinite(value)) {
    std::string word = std::isnan(value) ? "nan" : "inf";
    if (spec.type == 'F' || spec.type == 'E' || spec.type == 'G')
      for (char& c : word) c = static_cast<char>(c - 'a' + 'A');
    return word;
  }
  const int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  const std::string alternate = spec.alternate ? "#" : "";
  switch (spec.type) {
    case 'f':
    case 'F':
      return fmt::format("{:.{}f}", value, precision);
    case '%':
      return fmt::format("{:.{}f}%", value * 100, precision);
    case 'e':
      return fmt::format("{:.{}e}", value, precision);
    case 'E':
      return fmt::format("{:.{}E}", value, precision);
    case 'G':
      return fmt::format("{:.{}G}", value, std::max(precision, 1));
    case 'g':
    case 'n':
      return fmt::format("{:.{}g}", value, std::max(precision, 1));
    default:
      break;
  }
  if (spec.precision < 0) return repr_of(value);
  // Like 'g', but with a digit behind the point.
  std::string digits = fmt::format("{:.{}g}", value, std::max(precision, 1));
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits;
}

/// Separators between groups of digits of the whole part.
void group(std::string& digits, const FormatSpec& spec) {
  if (spec.grouping == '\0') return;
  const size_t width = is_integer_type(spec.type) && spec.type != 'd' ? 4 : 3;
  size_t end = 0;
  while (end < digits.size() && ((digits[end] >= '0' && digits[end] <= '9'))) ++end;
  while (end > width) {
    end -= width;
    digits.insert(end, 1, spec.grouping);
  }
}

/// A number of at most so many digits at `at`, which moves behind it.
bool read_number(std::string_view text, size_t& at, int64_t& value) {
  const char* begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (end == begin || *begin == '-') return false;
  if (error != std::errc()) value = std::numeric_limits<int64_t>::max();
  at += static_cast<size_t>(end - begin);
  return true;
}

}  // namespace

void check_format_spec(Runtime& runtime, const FormatSpec& spec) {
  if (spec.width > kMaxWidth || spec.precision > kMaxPrecision)
    runtime.fail("a format with a width above {} or a precision above {} is not supported",
                 kMaxWidth, kMaxPrecision);
}

std::string format_digits(Runtime& runtime, const Value& number, const FormatSpec& spec) {
  const bool integer =
      number.integer() && (spec.type == '\0' || spec.type == 'n' || is_integer_type(spec.type));
  if (!integer && is_integer_type(spec.type))
    runtime.fail("Unknown format code '{}' for object of type 'float'", spec.type);
  std::string digits;
  if (integer) {
    const int64_t value = *number.integer();
    const auto magnitude =
        value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    digits = integer_digits(magnitude, spec);
  } else {
    digits = real_digits(std::abs(*number.number()), spec);
  }
  group(digits, spec);
  return digits;
}

std::string format_number(Runtime& runtime, const Value& number, const FormatSpec& spec) {
  check_format_spec(runtime, spec);
  std::string digits = format_digits(runtime, number, spec);
  const bool negative = number.is_float()
                            ? std::signbit(number.real()) && !std::isnan(number.real())
                            : *number.integer() < 0;
  std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  const auto width = static_cast<size_t>(spec.width);
  const size_t length = sign.size() + digits.size();
  if (length >= width) return sign + digits;
  const size_t padding = width - length;
  runtime.step_bytes(padding);
  std::string fill;
  const auto pad = [&](size_t count) {
    fill.clear();
    for (size_t i = 0; i < count; ++i) fill += spec.fill;
    return fill;
  };
  switch (spec.align == '\0' ? '>' : spec.align) {
    case '<':
      return sign + digits + pad(padding);
    case '^':
      return pad(padding / 2) + sign + digits + pad(padding - padding / 2);
    case '=':
      return sign + pad(padding) + digits;
    default:
      return pad(padding) + sign + digits;
  }
}

FormatSpec parse_format_spec(Runtime& runtime, std::string_view text) {
  FormatSpec spec;
  size_t at = 0;
  const auto next = [&] { return at < text.size() ? text[at] : '\0'; };
  const size_t first = text.empty() ? 0 : code_point_at(text, 0).length;
  if (first < text.size() && is_align(text[first])) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    at = first + 1;
  } else if (is_align(next())) {
    spec.align = text[at++];
  }
  if (next() == '+' || next() == '-' || next() == ' ') spec.sign = text[at++];
  if (next() == '#') spec.alternate = text[at++] == '#';
  if (next() == '0' && spec.align == '\0') {
    spec.fill = "0";
    spec.align = '=';
    ++at;
  }
  read_number(text, at, spec.width);
  if (next() == ',' || next() == '_') spec.grouping = text[at++];
  if (next() == '.') {
    ++at;
    if (!read_number(text, at, spec.precision)) runtime.fail("Format specifier missing precision");
  }
  if (at < text.size()) spec.type = text[at++];
  if (at != text.size()) runtime.fail("Invalid format specifier");
  check_format_spec(runtime, spec);
  return spec;
}

}  // namespace heed::jinja
