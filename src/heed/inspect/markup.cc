#include "heed/inspect/markup.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "heed/base/error.h"

namespace heed::inspect {
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

/// Length of the UTF-8 sequence that starts with `lead`; 0 when `lead` starts none.
size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
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
  constexpr std::array<char32_t, 5> kMinPoint = {0, 0, 0x80, 0x800, 0x10000};
  std::u32string points;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = sequence_length(lead);
    char32_t point = length < 2 ? lead : lead & (0x7fu >> length);
    bool good = length > 0 && at + length <= text.size();
    for (size_t i = 1; good && i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      good = (next & 0xc0) == 0x80;
      point = (point << 6) | (next & 0x3fu);
    }
    const bool surrogate = point >= 0xd800 && point < 0xe000;
    good = good && !surrogate && point <= 0x10ffff && point >= kMinPoint[length];
    points += good ? point : kReplacement;
    at += good ? length : 1;
  }
  return points;
}

std::string utf8(char32_t c) {
  std::string text;
  const auto tail = [&](int shift) { text += static_cast<char>(0x80u | ((c >> shift) & 0x3fu)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0u | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0u | (c >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0u | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
  return text;
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

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_in_html(std::string json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string filled(std::string_view page, const std::map<std::string, std::string>& values) {
  std::string out;
  std::set<std::string> used;
  for (size_t at = 0; at < page.size();) {
    const size_t open = page.find("{{", at);
    out += page.substr(at, open == page.npos ? page.npos : open - at);
    if (open == page.npos) break;
    const size_t close = page.find("}}", open);
    require(close != page.npos, "a page template has an unclosed {{{{");
    const std::string name(page.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    require(value != values.end(), "a page template contains {{{{{}}}}}, which has no value", name);
    out += value->second;
    used.insert(name);
    at = close + 2;
  }
  for (const auto& [name, value] : values)
    require(used.contains(name), "a page template does not contain {{{{{}}}}}", name);
  return out;
}

}  // namespace heed::inspect
