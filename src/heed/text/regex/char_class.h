#pragma once

#include <optional>

#include "heed/text/regex/pattern_reader.h"
#include "heed/text/unicode/char_set.h"

namespace heed::text {

// The parts of a pattern that stand for one code point. Each of these throws Error on broken or
// unsupported syntax.

/// After "[": the class up to its "]", with [...] inside, && and ^.
CodePointRanges read_bracket(PatternReader& reader, bool ignore_case);

/// After a backslash: \s, \D, \p{...}. Reads nothing and returns nullopt where another escape
/// follows.
std::optional<CodePointRanges> read_class_escape(PatternReader& reader);

/// After a backslash: \n, \x41, \x{1F600}, \. and so on.
char32_t read_character_escape(PatternReader& reader);

}  // namespace heed::text
