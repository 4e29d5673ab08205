#pragma once

#include <string_view>

/// How Python's `tokenizers` classifies code points (tests/golden/tokenizers/unicode_tables.py).
///
/// A number is written in hexadecimal, its last digit as one of "g" (0) to "v" (15). A set is the
/// distances between its edges: first member, first code point that is no member, next member, ...
namespace heed::text::tables {

extern const std::string_view regex_word;   // \w of a pattern
extern const std::string_view regex_space;  // \s of a pattern; White_Space
extern const std::string_view word;         // \w elsewhere
extern const std::string_view numeric;      // Nd, Nl, No
extern const std::string_view punctuation;
extern const std::string_view control;  // as BERT defines it
extern const std::string_view nonspacing_mark;
extern const std::string_view combining_mark;
extern const std::string_view inert;  // without a decomposition or a combining class

extern const std::string_view script_latin, script_greek, script_cyrillic, script_hebrew;
extern const std::string_view script_arabic, script_thai, script_hangul, script_hiragana;
extern const std::string_view script_katakana, script_han;

/// Distance to the next run of one general category, then the category: A to Z, !, # and $ for Lu
/// Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn.
extern const std::string_view general_category;
/// Upper case and lower case of letters newer than utf8proc 2.8.
extern const std::string_view lower_case;

}  // namespace heed::text::tables
