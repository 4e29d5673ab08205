#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// The Unicode scalar values of UTF-8 text; each invalid byte becomes U+FFFD.
std::u32string code_points(std::string_view text);

/// The UTF-8 encoding of one scalar value.
std::string utf8(char32_t code_point);

/// Whether a character can be shown as it is: a letter, mark, number, punctuation mark, symbol or
/// the space, not another kind of space, nor what controls or formats.
bool is_printable(char32_t code_point);

/// Text that is safe to print: line separators and tabs are replaced by symbols, other control
/// characters, directional overrides and invalid UTF-8 by U+FFFD.
std::string printable(std::string_view text);

/// The terminal width of one scalar value in columns: 0 for combining marks, 2 for wide characters
/// (East Asian text, emoji), else 1.
int columns_of(char32_t code_point);

/// The terminal width of printable(text) in columns.
int width_of(std::string_view text);

/// printable(text), truncated with an ellipsis to at most `columns` columns (at least 1).
std::string cut(std::string_view text, int columns);

/// An integer in groups of three digits: "1,234,567".
std::string grouped(int64_t number);

}  // namespace heed
