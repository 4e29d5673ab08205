#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "heed/constrain/expressions.h"

namespace heed::constrain {

/// Whether a code point may belong to the texts of Vocabulary::Slice.
constexpr bool is_slice_character(char32_t value) {
  return value >= 0x20 && value != U'"' && value != U'\\';
}

/// The UTF-8 of a code point of slices.
ExpressionId slice_character(Expressions& expressions);

/// Says where any text of some length may follow, so that its tokens need not be tried.
class TextCover {
 public:
  /// `character` is slice_character() in `expressions`.
  TextCover(Expressions& expressions, ExpressionId character)
      : expressions_(expressions), character_(character) {}

  /// A number n such that each text of at most n characters of slices can begin a match of
  /// `expression`, which is not empty; kUnbounded: every such text. It may be too low, for
  /// expressions that are not made like those of strings.
  uint32_t characters(ExpressionId expression);

 private:
  std::vector<ExpressionId> children(ExpressionId expression) const;
  uint32_t find_characters(ExpressionId expression);
  uint32_t repetition_characters(const Expressions::Node& repetition);
  uint32_t intersection_characters(ExpressionId expression);
  bool has_every_character(ExpressionId expression);

  Expressions& expressions_;
  ExpressionId character_;
  std::unordered_map<ExpressionId, uint32_t> characters_;
  std::unordered_map<ExpressionId, bool> has_every_character_;
};

}  // namespace heed::constrain
