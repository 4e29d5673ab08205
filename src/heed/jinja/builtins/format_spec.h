#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// How a value is laid out: the fields of Python's format specifications, and of its % directives.
struct FormatSpec {
  std::string fill = " ";  // one character
  char align = '\0';       // < > ^ =
  char sign = '-';         // + - or space
  bool alternate = false;  // #
  char grouping = '\0';    // , or _
  int64_t width = 0;
  int64_t precision = -1;  // -1: none
  char type = '\0';
};

/// The digits of a number without its sign.
std::string format_digits(Runtime& runtime, const Value& number, const FormatSpec& spec);
/// A number with its sign and padding.
std::string format_number(Runtime& runtime, const Value& number, const FormatSpec& spec);

/// Reads a format specification (Python's format(value, text)).
FormatSpec parse_format_spec(Runtime& runtime, std::string_view text);

/// Throws Error if a width or precision is out of all proportion.
void check_format_spec(Runtime& runtime, const FormatSpec& spec);

}  // namespace heed::jinja
