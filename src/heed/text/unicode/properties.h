#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "heed/text/unicode/char_set.h"

/// What a code point is, as Python's `tokenizers` sees it: its parts follow different versions of
/// Unicode, so there are two ideas of a word and three of a mark.
namespace heed::text {

bool is_white_space(char32_t value);
bool is_word(char32_t value);
bool is_numeric(char32_t value);
bool is_punctuation(char32_t value);
bool is_control(char32_t value);
bool is_nonspacing_mark(char32_t value);
bool is_combining_mark(char32_t value);
/// Newer than the library's normal forms, which leave it as it is and in its place.
bool is_inert(char32_t value);

/// Appends the lower case of one code point: one, or two for U+0130.
void append_lower_case(std::string& text, char32_t value);

/// The members of \p{name} in a pattern: a general category ("Lu"), a group of them ("L") or a
/// script ("Han"); nothing for an unknown name. Case, spaces, hyphens and underscores do not count.
std::optional<CodePointRanges> property_named(std::string_view name);

}  // namespace heed::text
