#include "heed/text/byte_alphabet.h"

#include <array>

#include "heed/text/utf8.h"

namespace heed::text {
namespace {

constexpr char32_t kFirstStandIn = 0x100;
constexpr size_t kStandIns = 68;

struct Alphabet {
  std::array<std::string, 256> characters;
  std::array<uint8_t, kStandIns> bytes{};  // by stand-in

  Alphabet() {
    size_t stand_ins = 0;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      if (!printable) bytes[stand_ins] = static_cast<uint8_t>(byte);
      append_utf8(characters[byte],
                  printable ? byte : kFirstStandIn + static_cast<char32_t>(stand_ins++));
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

void append_byte_characters(std::string& text, std::string_view bytes) {
  const auto& characters = alphabet().characters;
  for (const char byte : bytes) text += characters[static_cast<uint8_t>(byte)];
}

std::optional<uint8_t> byte_of_character(char32_t character) {
  if (character >= kFirstStandIn && character < kFirstStandIn + kStandIns)
    return alphabet().bytes[character - kFirstStandIn];
  const bool printable = (character >= '!' && character <= '~') ||
                         (character >= 0xA1 && character <= 0xFF && character != 0xAD);
  if (!printable) return std::nullopt;
  return static_cast<uint8_t>(character);
}

void append_character_bytes(std::string& bytes, std::string_view token) {
  const size_t before = bytes.size();
  bool all_known = true;
  for_each_code_point(token, [&](const CodePoint& point, std::string_view) {
    const auto byte = byte_of_character(point.value);
    all_known = all_known && byte;
    if (all_known) bytes.push_back(static_cast<char>(*byte));
  });
  if (all_known) return;
  bytes.resize(before);
  bytes += token;
}

}  // namespace heed::text
