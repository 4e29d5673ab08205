#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "heed/text/unicode/char_set.h"

/// Properties of code points as Python's `tokenizers` has them. Its parts follow different versions
/// of Unicode, so there are two definitions of a word character and three of a mark.
namespace heed::text {

bool is_white_space(char32_t value);
bool is_word(char32_t value);
bool is_numeric(char32_t value);
bool is_punctuation(char32_t value);
bool is_control(char32_t value);
bool is_nonspacing_mark(char32_t value);
bool is_combining_mark(char32_t value);
/// Code points newer than the Unicode version of the normal forms in `tokenizers`, which leave them
/// unchanged and do not reorder them.
bool is_inert(char32_t value);

/// Appends the lower case of one code point: one, or two for U+0130.
void append_lower_case(std::string& text, char32_t value);
/// Appends one code point as words in title case begin, or as it is if it has no such case.
void append_title_case(std::string& text, char32_t value);

/// The members of \p{name} in a pattern: a general category ("Lu"), a group of them ("L") or a
/// script ("Han"); nothing for an unknown name. Case, spaces, hyphens and underscores do not count.
std::optional<CodePointRanges> property_named(std::string_view name);

}  // namespace heed::text
