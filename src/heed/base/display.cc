#include "heed/base/display.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr char32_t kReplacement = 0xfffd;

struct Range {
  char32_t first, last;
};

template <size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

/// The character to display for c. Line ends and tabs get symbols; other control characters,
/// directional overrides and noncharacters become U+FFFD.
char32_t displayed(char32_t c) {
  if (c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029 || c == 0x85) return 0x23ce;
  if (c == '\t') return 0x21e5;
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool direction = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  const bool no_character = (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
  return control || direction || no_character ? kReplacement : c;
}

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string points;
  for_each_code_point(text, [&](const CodePoint& point, auto) { points += point.value; });
  return points;
}

std::string utf8(char32_t c) {
  std::string text;
  append_utf8(text, c);
  return text;
}

bool is_printable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return c == ' ';
    default:
      return true;
  }
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : code_points(text)) out += utf8(displayed(c));
  return out;
}

int columns_of(char32_t c) {
  static constexpr std::array<Range, 12> kCombining = {{{0x300, 0x36f},
                                                        {0x483, 0x489},
                                                        {0x591, 0x5bd},
                                                        {0x610, 0x61a},
                                                        {0x64b, 0x65f},
                                                        {0x93c, 0x93c},
                                                        {0x94d, 0x94d},
                                                        {0xe31, 0xe31},
                                                        {0xe34, 0xe3a},
                                                        {0x200b, 0x200f},
                                                        {0x20d0, 0x20f0},
                                                        {0xfe00, 0xfe0f}}};
  static constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115f},
                                                   {0x2e80, 0x303e},
                                                   {0x3041, 0x33ff},
                                                   {0x3400, 0x4dbf},
                                                   {0x4e00, 0x9fff},
                                                   {0xa960, 0xa97c},
                                                   {0xac00, 0xd7a3},
                                                   {0xf900, 0xfaff},
                                                   {0xfe30, 0xfe6f},
                                                   {0xff00, 0xff60},
                                                   {0x1f300, 0x1faff}}};
  if (within(kCombining, c)) return 0;
  return within(kWide, c) || (c >= 0x20000 && c <= 0x3fffd) ? 2 : 1;
}

int width_of(std::string_view text) {
  int width = 0;
  for (const char32_t c : code_points(text)) width += columns_of(displayed(c));
  return width;
}

std::string cut(std::string_view text, int columns) {
  if (width_of(text) <= columns) return printable(text);
  std::string out;
  int width = 1;  // the ellipsis
  for (const char32_t c : code_points(text)) {
    width += columns_of(displayed(c));
    if (width > columns) break;
    out += utf8(displayed(c));
  }
  return out + "…";
}

std::string grouped(int64_t number) {
  std::string text = fmt::format("{}", number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace heed
