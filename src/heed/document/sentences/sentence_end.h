#pragma once

#include <cstddef>
#include <string>

#include "heed/document/sentences/abbreviations.h"
#include "heed/document/sentences/sentence_break.h"

namespace heed::document {

/// What may end a sentence: a run of terminators, with the quotes and brackets behind it.
struct PossibleEnd {
  size_t begin = 0, end = 0;  // bytes
  size_t marks_end = 0;       // behind the first terminators
  int spaced_full_stops = 0;  // of an ellipsis with spaces: ". . ."
  bool strong = false;        // has a terminator other than the full stop
  bool wide = false;          // has one that no space follows (is_wide_terminator)
  bool ellipsis = false;      // more than one full stop
  bool closed = false;        // has closing quotes or brackets
};

/// Reads the one that begins at `begin`, a full stop or a terminator, before `line_end`.
PossibleEnd read_possible_end(const TextView& text, size_t begin, size_t line_end);

/// Whether sentences end: the rules for what stands before and behind.
class SentenceEnds {
 public:
  SentenceEnds(const TextView& text, const LanguageRules& rules, size_t line_end)
      : text_(text), rules_(rules), line_end_(line_end) {}

  /// Whether the sentence that begins at `start` ends there.
  bool ends(size_t start, const PossibleEnd& end) const;
  /// Whether a mark of LearnedRules::ends_before_capital stands at `position`, and a capital behind
  /// it; then `behind` is behind the mark and its closing quotes.
  bool learned_mark_ends(size_t position, size_t& behind) const;

 private:
  struct Following;  // what stands behind an end
  Following read_following(size_t position) const;
  bool is_remark(const PossibleEnd& end) const;
  bool ends_unspaced(const PossibleEnd& end) const;
  bool ends_before_small_letter(size_t start, const PossibleEnd& end,
                                const Following& following) const;
  bool full_stop_ends(size_t start, const PossibleEnd& end, const Following& following) const;
  bool ends_before_capital(size_t start, std::string_view word, const Following& following) const;
  /// "z." if that stands before the letter that begins at `begin`, as in "z. B."; or nothing.
  std::string letter_before(size_t start, size_t begin) const;
  /// Whether the word before the one that ends at `end` begins with a small letter.
  bool follows_small_word(size_t start, size_t end) const;
  size_t word_begin(size_t start, size_t end) const;

  const TextView& text_;
  const LanguageRules& rules_;
  size_t line_end_;
};

}  // namespace heed::document
