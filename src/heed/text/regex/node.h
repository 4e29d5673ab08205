#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/unicode/char_set.h"

namespace heed::text {

enum class Repetition { greedy, lazy, possessive };

enum class Place {
  line_begin,
  line_end,
  text_begin,
  text_end,
  text_end_or_last_newline,
  word_edge,
  no_word_edge
};

/// A regular expression as a tree.
struct RegexNode {
  enum class Kind { empty, set, sequence, alternatives, repeat, place, look, atomic };
  static constexpr uint32_t kNoLimit = UINT32_MAX;

  Kind kind = Kind::empty;
  CodePointRanges set;              // set: one code point of these
  std::vector<RegexNode> children;  // sequence, alternatives; one of repeat, look, atomic
  uint32_t least = 0, most = 0;     // repeat
  Repetition repetition = Repetition::greedy;
  Place place = Place::line_begin;
  bool behind = false, negated = false;  // look
};

/// Throws Error, beginning with `where`, on what heed cannot read.
RegexNode parse_regex(std::string_view pattern, const std::string& where);

/// Whether the node matches nothing at all somewhere.
bool can_be_empty(const RegexNode& node);

/// How many code points the node matches, if always the same number.
std::optional<uint32_t> fixed_length(const RegexNode& node);

/// Adds to a set the other cases of its members.
void add_other_cases(CodePointRanges& set);

}  // namespace heed::text
