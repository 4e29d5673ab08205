#include "heed/data/mojibake.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "heed/text/utf8.h"

namespace heed::data {
namespace {

/// What Windows-1252 has for the bytes 0x80 to 0x9F; 0: nothing, which decoders leave as it is.
constexpr std::array<char32_t, 32> kWindows{
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/// The byte of Windows-1252 for a character; 0 for ASCII and for what it does not have.
uint8_t byte_of(char32_t c) {
  if (c >= 0xA0 && c <= 0xFF) return static_cast<uint8_t>(c);
  const auto found = std::ranges::find(kWindows, c);
  if (c == 0 || found == kWindows.end()) return 0;
  return static_cast<uint8_t>(0x80 + (found - kWindows.begin()));
}

bool continues(uint8_t byte) { return (byte & 0xC0) == 0x80; }

/// A letter that may also be a capital before a mark: "PÅ”".
bool may_be_capital(uint8_t lead) { return lead >= 0xC4 && lead <= 0xDF; }

/// What may follow a capital: quotation marks, dashes, an ellipsis, a space that does not break.
bool may_follow_capital(uint8_t byte) {
  constexpr std::array<uint8_t, 13> kMarks{0x82, 0x84, 0x85, 0x8B, 0x91, 0x92, 0x93,
                                           0x94, 0x96, 0x97, 0x9B, 0xA0, 0xBB};
  return std::ranges::find(kMarks, byte) != kMarks.end();
}

}  // namespace

bool has_mojibake(std::string_view text) {
  std::vector<uint8_t> bytes;
  bool broken = false;
  text::for_each_code_point(text, [&](const text::CodePoint& point, std::string_view) {
    const char32_t c = point.value;
    broken = broken || c == 0xFFFD || (c >= 0x80 && c < 0xA0 && c != 0x85);
    bytes.push_back(byte_of(c));
  });
  if (broken) return true;
  const auto at = [&](size_t i) { return i < bytes.size() ? bytes[i] : uint8_t{0}; };
  int letters = 0, certain = 0;  // of two bytes
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool letter = continues(at(i + 1));
    if ((at(i) == 0xC2 || at(i) == 0xC3) && letter) return true;
    if (at(i) == 0xE2 && (at(i + 1) == 0x80 || at(i + 1) == 0x82) && continues(at(i + 2)))
      return true;
    if (!may_be_capital(at(i)) || !letter) continue;
    ++letters;
    if (!may_follow_capital(at(i + 1))) ++certain;
  }
  return letters > 1 && certain > 0;
}

}  // namespace heed::data
