#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/unicode/char_set.h"

namespace heed::text {

enum class Repetition { greedy, lazy, possessive };

enum class Anchor {
  line_begin,
  line_end,
  text_begin,
  text_end,
  text_end_or_last_newline,
  word_boundary,
  no_word_boundary
};

/// A regular expression as a tree. The functions below make nodes; they derive `can_be_empty` and
/// `length` from those of the children.
struct RegexNode {
  enum class Kind { empty, set, sequence, alternatives, repeat, anchor, lookaround, atomic };
  static constexpr uint32_t kNoLimit = UINT32_MAX;

  Kind kind = Kind::empty;
  Repetition repetition = Repetition::greedy;  // repeat
  Anchor anchor = Anchor::line_begin;
  bool lookbehind = false, negated = false;  // lookaround
  /// Whether it matches the empty text somewhere.
  bool can_be_empty = true;
  /// How many code points it matches, if always the same number and at most kMaxLookBehind.
  std::optional<uint32_t> length = 0;
  uint32_t set = 0;                 // set: one code point of RegexTree::sets[set]
  uint32_t min = 0, max = 0;        // repeat
  std::vector<RegexNode> children;  // sequence, alternatives; one of repeat, lookaround, atomic
};

struct RegexTree {
  RegexNode root;
  std::vector<CodePointRanges> sets;  // no two are equal
};

RegexNode set_node(uint32_t set);
RegexNode anchor_node(Anchor anchor);
RegexNode sequence_node(std::vector<RegexNode> children);
RegexNode alternatives_node(std::vector<RegexNode> children);
RegexNode repeat_node(RegexNode child, uint32_t min, uint32_t max, Repetition repetition);
RegexNode atomic_node(RegexNode child);
/// (?=...), (?<=...), and negated (?!...), (?<!...). The child of a lookbehind is
/// alternatives, each of a known length.
RegexNode lookaround_node(RegexNode child, bool lookbehind, bool negated);

/// Throws Error, beginning with `where`, on a pattern that is broken, that uses unsupported syntax,
/// or that exceeds the limits of base/reader_limits.h.
RegexTree parse_regex(std::string_view pattern, const std::string& where);

}  // namespace heed::text
