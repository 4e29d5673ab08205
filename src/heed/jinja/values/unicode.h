#pragma once

#include <string>

/// Unicode as Python's str has it: white space, letters and case.
namespace heed::jinja {

/// str.isspace(): what strip() and split() remove.
bool is_space(char32_t value);
/// What splitlines() splits at.
bool is_line_end(char32_t value);
bool is_alpha(char32_t value);
bool is_digit(char32_t value);
bool is_numeric(char32_t value);
bool is_alnum(char32_t value);
bool is_lower(char32_t value);
bool is_upper(char32_t value);
bool is_title(char32_t value);
/// Neither begins nor ends a word when a final sigma is looked for.
bool is_case_ignorable(char32_t value);
inline bool is_cased(char32_t value) {
  return is_lower(value) || is_upper(value) || is_title(value);
}

/// Python's escape of a code point: \x41, \u2581 or \U0001f600.
std::string escape_of(char32_t value);

/// The text without white space at its end.
std::string_view without_trailing_space(std::string_view text);

/// Full case mappings: the result may have several code points ("ß" becomes "SS").
std::string to_upper(char32_t value);
std::string to_lower(char32_t value);
std::string to_title(char32_t value);

}  // namespace heed::jinja
