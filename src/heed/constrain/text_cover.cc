#include "heed/constrain/text_cover.h"

#include <algorithm>

#include "heed/constrain/code_points.h"

namespace heed::constrain {
namespace {

using ExpressionKind = Expressions::Kind;

constexpr uint32_t kMaxUtf8 = 4;

}  // namespace

ExpressionId slice_character(Expressions& expressions) {
  CodePointSet set;
  for (char32_t value = 0; value < 0x80; ++value) {
    if (is_slice_character(value)) set.add(value, value);
  }
  set.add(0x80, CodePointSet::kLast);
  return utf8(expressions, set);
}

uint32_t TextCover::characters(ExpressionId expression) {
  if (const auto known = characters_.find(expression); known != characters_.end()) {
    return known->second;
  }
  const uint32_t result = find_characters(expression);
  characters_.emplace(expression, result);
  return result;
}

// A copy: what is computed of a child adds expressions.
std::vector<ExpressionId> TextCover::children(ExpressionId expression) const {
  const std::span<const ExpressionId> all = expressions_.children(expression);
  return {all.begin(), all.end()};
}

uint32_t TextCover::find_characters(ExpressionId expression) {
  const Expressions::Node node = expressions_.node(expression);
  uint32_t result = 0;
  switch (node.kind) {
    case ExpressionKind::concatenation:
      // The last part may be a long chain, and seldom begins with a text.
      return expressions_.is_empty(node.second()) ? 0 : characters(node.first());
    case ExpressionKind::repetition:
      return repetition_characters(node);
    case ExpressionKind::alternation:
      for (const ExpressionId child : children(expression)) {
        result = std::max(result, expressions_.is_empty(child) ? 0 : characters(child));
      }
      return result;
    case ExpressionKind::intersection:
      return intersection_characters(expression);
    default:
      return 0;
  }
}

uint32_t TextCover::repetition_characters(const Expressions::Node& repetition) {
  const ExpressionId part = repetition.first();
  if (expressions_.node(part).kind == ExpressionKind::bytes) {
    const ByteSet bytes = expressions_.byte_set(part);
    for (int byte = 0; byte <= 0xF4; ++byte) {
      if (is_slice_character(static_cast<char32_t>(byte)) &&
          !bytes.contains(static_cast<uint8_t>(byte))) {
        return 0;
      }
    }
    return repetition.max() == Expressions::kUnbounded ? repetition.max()
                                                       : repetition.max() / kMaxUtf8;
  }
  return has_every_character(part) ? repetition.max() : characters(part);
}

// x & ~y, where y has no match of more than n bytes: a text can be continued until it is longer if
// x allows more than n characters.
uint32_t TextCover::intersection_characters(ExpressionId expression) {
  uint32_t result = 0, longest_excluded = 0, others = 0;
  for (const ExpressionId child : children(expression)) {
    const Expressions::Node& node = expressions_.node(child);
    if (node.kind == ExpressionKind::complement) {
      longest_excluded = std::max(longest_excluded, expressions_.max_length(node.first()));
    } else {
      result = characters(child);
      ++others;
    }
  }
  const bool is_covered =
      others == 1 && longest_excluded != Expressions::kUnbounded && result > longest_excluded;
  return is_covered ? result : 0;
}

bool TextCover::has_every_character(ExpressionId expression) {
  const auto known = has_every_character_.find(expression);
  if (known != has_every_character_.end()) return known->second;
  const bool result = expressions_.is_empty(
      expressions_.intersect(character_, expressions_.complement(expression)));
  has_every_character_.emplace(expression, result);
  return result;
}

}  // namespace heed::constrain
