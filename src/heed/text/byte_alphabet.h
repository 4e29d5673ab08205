#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heed::text {

/// GPT-2's characters for bytes, with which any bytes can be written as text: a printable byte of
/// Latin-1 stands for itself, the 68 others are U+0100 to U+0143 ("Ġ" is a space).
void append_byte_characters(std::string& text, std::string_view bytes);

/// The byte that a character stands for.
std::optional<uint8_t> byte_of_character(char32_t character);

/// Appends the bytes that the characters of `token` stand for, or `token` itself if one stands for
/// no byte.
void append_character_bytes(std::string& bytes, std::string_view token);

}  // namespace heed::text
