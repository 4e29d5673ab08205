#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed::text {

/// GPT-2's letters for bytes, with which any bytes can be written as text: a printable byte of
/// Latin-1 stands for itself, the 68 others are U+0100 to U+0143 ("Ġ" is a space).
void append_byte_letters(std::string& text, std::string_view bytes);

/// The byte that a letter stands for.
std::optional<uint8_t> byte_of_letter(char32_t letter);

/// Appends the bytes that the letters of `token` stand for, or `token` itself if one stands for no
/// byte.
void append_letter_bytes(std::string& bytes, std::string_view token);

}  // namespace heed::text
