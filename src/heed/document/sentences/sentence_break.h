#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/text/utf8.h"

namespace heed::document {

/// What a code point is to the end of a sentence: the classes of Unicode's property Sentence_Break
/// (UAX #29, table 4), with those of closing punctuation told apart.
enum class SentenceBreak : uint8_t {
  other,       // symbols, dashes
  line_end,    // ParaSep
  space,       // Sp
  extend,      // Extend, Format: belongs to the code point before it
  lower,       // Lower
  upper,       // Upper, and title case
  letter,      // OLetter: of a script without case
  number,      // Numeric
  full_stop,   // ATerm, and the ellipsis
  terminator,  // STerm
  comma,       // SContinue, without dashes
  opening,     // Close: opening brackets, and quotes that open in most languages
  closing,     // Close: closing brackets and quotes
  quote,       // Close: " and ', which do both
};

SentenceBreak sentence_break(char32_t value);

/// Whether sentences of its script follow each other without a space: 。！？
bool is_wide_terminator(char32_t value);

/// Whether it is written without spaces between words: Han, Hiragana, Katakana.
bool is_ideographic(char32_t value);

/// A piece of text in lower case.
std::string in_lower_case(std::string_view text);

/// Well-formed UTF-8, read in both directions by the byte at which a code point begins.
class TextView {
 public:
  explicit TextView(std::string_view text) : text_(text) {}

  std::string_view bytes() const { return text_; }
  size_t size() const { return text_.size(); }
  char32_t at(size_t position) const { return text::code_point_at(text_, position).value; }
  SentenceBreak break_at(size_t position) const { return sentence_break(at(position)); }
  size_t next(size_t position) const {
    return position + text::code_point_at(text_, position).length;
  }
  /// Where the code point before `position`, which is above 0, begins.
  size_t previous(size_t position) const { return text::code_point_begin(text_, position - 1); }
  /// The first position from `position` on, below `end`, that holds no white space.
  size_t skip_spaces(size_t position, size_t end) const;
  /// The first position not below `begin` from which on there is only white space before `end`.
  size_t trim_spaces(size_t begin, size_t end) const;

 private:
  std::string_view text_;
};

}  // namespace heed::document
