#include "heed/base/utf8.h"

#include <algorithm>
#include <cstring>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr CodePoint kMalformed{CodePoint::kReplacement, 1, false};

/// The range of the second byte, which is what excludes overlong forms, surrogates and values above
/// U+10FFFF.
bool is_second_byte(uint8_t lead, uint8_t byte) {
  switch (lead) {
    case 0xE0:
      return byte >= 0xA0 && byte <= 0xBF;
    case 0xED:
      return byte >= 0x80 && byte <= 0x9F;
    case 0xF0:
      return byte >= 0x90 && byte <= 0xBF;
    case 0xF4:
      return byte >= 0x80 && byte <= 0x8F;
    default:
      return is_continuation(static_cast<char>(byte));
  }
}

uint8_t length_by_lead(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

bool is_ascii_block(const char* bytes) {
  uint64_t block;
  std::memcpy(&block, bytes, sizeof(block));
  return (block & 0x8080808080808080u) == 0;
}

/// Bytes of a malformed code point at `position` that could have begun a good one; at least 1.
size_t malformed_length(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[position + i]); };
  const size_t left = text.size() - position, wanted = length_by_lead(byte(0));
  if (wanted < 2 || left < 2 || !is_second_byte(byte(0), byte(1))) return 1;
  size_t length = 2;
  while (length < wanted && length < left && is_continuation(text[position + length])) ++length;
  return length;
}

}  // namespace

CodePoint code_point_at(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[position + i]); };
  const uint8_t lead = byte(0);
  const uint8_t length = length_by_lead(lead);
  if (length == 1) return {lead, 1, true};
  if (length == 0 || length > text.size() - position) return kMalformed;
  if (!is_second_byte(lead, byte(1))) return kMalformed;
  char32_t value = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[position + i])) return kMalformed;
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  return {value, length, true};
}

size_t first_invalid_utf8(std::string_view text) {
  for (size_t position = 0; position < text.size();) {
    if (text.size() - position >= 8 && is_ascii_block(text.data() + position)) {
      position += 8;
      continue;
    }
    const CodePoint point = code_point_at(text, position);
    if (!point.valid) return position;
    position += point.length;
  }
  return std::string_view::npos;
}

void require_utf8(std::string_view text, std::string_view what) {
  const size_t bad = first_invalid_utf8(text);
  if (bad != std::string_view::npos)
    fail_input("{} is not valid UTF-8: byte {} is 0x{:02X}", what, bad + 1,
               static_cast<uint8_t>(text[bad]));
}

void append_utf8(std::string& text, char32_t value) {
  const auto low = [&](int shift) { return static_cast<char>(0x80 | ((value >> shift) & 0x3F)); };
  if (value < 0x80) {
    text.push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    text += {static_cast<char>(0xC0 | (value >> 6)), low(0)};
  } else if (value < 0x10000) {
    text += {static_cast<char>(0xE0 | (value >> 12)), low(6), low(0)};
  } else {
    text += {static_cast<char>(0xF0 | (value >> 18)), low(12), low(6), low(0)};
  }
}

std::string with_replacements(std::string_view text, std::vector<size_t>* sources) {
  std::string result;
  for (size_t begin = 0;;) {
    const std::string_view rest = text.substr(begin);
    const size_t bad = std::min(first_invalid_utf8(rest), rest.size());
    result += rest.substr(0, bad);
    for (size_t i = 0; sources != nullptr && i < bad; ++i) sources->push_back(begin + i);
    begin += bad;
    if (begin == text.size()) break;
    append_utf8(result, CodePoint::kReplacement);
    if (sources != nullptr) sources->resize(result.size(), begin);
    begin += malformed_length(text, begin);
  }
  if (sources != nullptr) sources->push_back(text.size());
  return result;
}

}  // namespace heed
