#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// One code point of a text and the bytes it takes.
struct CodePoint {
  /// What a malformed byte is read as.
  static constexpr char32_t kReplacement = 0xFFFD;

  char32_t value = 0;
  uint8_t length = 0;  // bytes, 1 to 4
  bool valid = true;   // false: a malformed byte, taken alone
};

/// Whether a byte of well-formed UTF-8 is not the first of its code point.
constexpr bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

/// Where the code point begins that byte `position` of well-formed UTF-8 belongs to; `position`
/// itself at the end of the text.
inline size_t code_point_begin(std::string_view text, size_t position) {
  while (position > 0 && position < text.size() && is_continuation(text[position])) --position;
  return position;
}

/// How many code points well-formed UTF-8 has.
inline size_t count_code_points(std::string_view text) {
  return text.size() -
         static_cast<size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

/// The code point that starts at byte `position` (below text.size()). Well-formed is what table 3-7
/// of the Unicode standard lists: shortest form only, no surrogates, nothing above U+10FFFF.
CodePoint code_point_at(std::string_view text, size_t position);

/// Position of the first byte that is not part of well-formed UTF-8, or npos.
size_t first_invalid_utf8(std::string_view text);

inline bool is_valid_utf8(std::string_view text) {
  return first_invalid_utf8(text) == std::string_view::npos;
}

/// Throws Error unless `text` is valid UTF-8: "`what` is not valid UTF-8: byte 3 is 0xFF".
void require_utf8(std::string_view text, std::string_view what);

/// Calls visit(CodePoint, std::string_view bytes) for each code point of `text`, in order. Each
/// malformed byte is visited alone, as U+FFFD with valid false.
template <typename Visit>
void for_each_code_point(std::string_view text, Visit&& visit) {
  for (size_t position = 0; position < text.size();) {
    const CodePoint point = code_point_at(text, position);
    visit(point, text.substr(position, point.length));
    position += point.length;
  }
}

/// Appends the UTF-8 of the code point `value`.
void append_utf8(std::string& text, char32_t value);

/// The text with U+FFFD for every maximal part of a broken code point, as Python's
/// bytes.decode("utf-8", errors="replace") gives it (Unicode 15, section 3.9, "U+FFFD substitution
/// of maximal subparts"): "\xE2\x82" at the end is one of them, "\xC0\x80" two. `sources`, if
/// given, gets for each byte of the result, and for its end, the byte of `text` that it stands for:
/// for U+FFFD the first of the part.
std::string with_replacements(std::string_view text, std::vector<size_t>* sources = nullptr);

}  // namespace heed
