#include "heed/jinja/values/unicode.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "heed/base/utf8.h"

namespace heed::jinja {
namespace {

utf8proc_int32_t proc(char32_t value) { return static_cast<utf8proc_int32_t>(value); }

char32_t upper(char32_t value) { return static_cast<char32_t>(utf8proc_toupper(proc(value))); }

std::string spelled(char32_t value) {
  std::string text;
  append_utf8(text, value);
  return text;
}

bool is_category(char32_t value, std::initializer_list<utf8proc_category_t> wanted) {
  const utf8proc_category_t found = utf8proc_category(proc(value));
  return std::find(wanted.begin(), wanted.end(), found) != wanted.end();
}

bool is_decimal(char32_t value) { return is_category(value, {UTF8PROC_CATEGORY_ND}); }

/// Letters beyond the categories Lu and Ll that have a case (Other_Uppercase and Other_Lowercase).
bool is_other_upper(char32_t value) {
  return (value >= 0x2160 && value <= 0x216F) || (value >= 0x24B6 && value <= 0x24CF) ||
         (value >= 0x1F130 && value <= 0x1F149) || (value >= 0x1F150 && value <= 0x1F169) ||
         (value >= 0x1F170 && value <= 0x1F189);
}
bool is_other_lower(char32_t value) {
  return value == 0xAA || value == 0xBA || (value >= 0x2B0 && value <= 0x2B8) ||
         (value >= 0x2C0 && value <= 0x2C1) || (value >= 0x2E0 && value <= 0x2E4) ||
         value == 0x345 || value == 0x37A || (value >= 0x1D2C && value <= 0x1D6A) ||
         value == 0x1D78 || (value >= 0x1D9B && value <= 0x1DBF) || value == 0x2071 ||
         value == 0x207F || (value >= 0x2090 && value <= 0x209C) ||
         (value >= 0x2170 && value <= 0x217F) || (value >= 0x24D0 && value <= 0x24E9) ||
         (value >= 0x2C7C && value <= 0x2C7D) || (value >= 0xA69C && value <= 0xA69D) ||
         value == 0xA770 || (value >= 0xA7F8 && value <= 0xA7F9) ||
         (value >= 0xAB5C && value <= 0xAB5F);
}

/// The case folding of a lower-case or title-case letter if it has several code points: utf8proc
/// maps a code point to one upper-case one, and these letters have more.
std::vector<char32_t> long_fold(char32_t value) {
  if (value < 0x80) return {};
  std::array<utf8proc_int32_t, 4> folded{};
  int boundary = 0;
  const auto size = utf8proc_decompose_char(proc(value), folded.data(), folded.size(),
                                            UTF8PROC_CASEFOLD, &boundary);
  if (size < 2 || is_upper(value)) return {};
  return {folded.begin(), folded.begin() + size};
}

}  // namespace

bool is_space(char32_t value) {
  return (value >= 0x9 && value <= 0xD) || (value >= 0x1C && value <= 0x20) || value == 0x85 ||
         value == 0xA0 || value == 0x1680 || (value >= 0x2000 && value <= 0x200A) ||
         value == 0x2028 || value == 0x2029 || value == 0x202F || value == 0x205F ||
         value == 0x3000;
}

bool is_line_end(char32_t value) {
  return (value >= 0xA && value <= 0xD) || (value >= 0x1C && value <= 0x1E) || value == 0x85 ||
         value == 0x2028 || value == 0x2029;
}

bool is_alpha(char32_t value) {
  return is_category(value, {UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LL, UTF8PROC_CATEGORY_LT,
                             UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_LO});
}
bool is_digit(char32_t value) {
  // Superscripts and circled digits, which Unicode calls digits but not decimals.
  return is_decimal(value) || value == 0xB2 || value == 0xB3 || value == 0xB9 || value == 0x2070 ||
         (value >= 0x2074 && value <= 0x2079) || (value >= 0x2080 && value <= 0x2089) ||
         (value >= 0x2460 && value <= 0x2468);
}
bool is_numeric(char32_t value) {
  return is_category(value, {UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_NO});
}
bool is_alnum(char32_t value) { return is_alpha(value) || is_numeric(value); }
bool is_lower(char32_t value) {
  return is_category(value, {UTF8PROC_CATEGORY_LL}) || is_other_lower(value);
}
bool is_upper(char32_t value) {
  return is_category(value, {UTF8PROC_CATEGORY_LU}) || is_other_upper(value);
}
bool is_title(char32_t value) { return is_category(value, {UTF8PROC_CATEGORY_LT}); }
bool is_case_ignorable(char32_t value) {
  return value == '\'' || value == '.' || value == ':' || value == '^' || value == '`' ||
         value == 0xB7 || value == 0x2019 ||
         is_category(value, {UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME, UTF8PROC_CATEGORY_CF,
                             UTF8PROC_CATEGORY_LM, UTF8PROC_CATEGORY_SK});
}

std::string escape_of(char32_t value) {
  const auto number = static_cast<uint32_t>(value);
  if (number <= 0xFF) return fmt::format("\\x{:02x}", number);
  return number <= 0xFFFF ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty()) {
    const size_t begin = code_point_begin(text, text.size() - 1);
    if (!is_space(code_point_at(text, begin).value)) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string to_upper(char32_t value) {
  const std::vector<char32_t> folded = long_fold(value);
  if (folded.empty()) return spelled(upper(value));
  std::string text;
  for (const char32_t part : folded) append_utf8(text, upper(part));
  return text;
}

std::string to_lower(char32_t value) {
  if (value == 0x130) return "i\u0307";
  return spelled(static_cast<char32_t>(utf8proc_tolower(proc(value))));
}

std::string to_title(char32_t value) {
  const auto title = static_cast<char32_t>(utf8proc_totitle(proc(value)));
  const std::vector<char32_t> folded = long_fold(value);
  if (folded.empty() || is_title(title)) return spelled(title);
  // The first letter in upper case. An iota after it stays below it.
  const auto first = std::find_if(folded.begin(), folded.end(), is_cased);
  std::string text;
  for (auto part = folded.begin(); part != folded.end(); ++part)
    append_utf8(text, part == first ? upper(*part) : *part == 0x3B9 ? 0x345 : *part);
  return text;
}

}  // namespace heed::jinja
