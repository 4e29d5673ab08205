#include <algorithm>
#include <optional>

#include "heed/constrain/schema/schema_grammar.h"

namespace heed::constrain {
namespace {

/// Different items that arrays without equal items may have, and the bytes of each.
constexpr size_t kMaxItemTexts = 64, kMaxItemBytes = 200;

/// The strings that an expression matches, if they are few.
std::optional<std::vector<std::string>> list_texts(Expressions& expressions, ExpressionId root) {
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, ExpressionId>> open = {{"", root}};
  while (!open.empty()) {
    const auto [text, expression] = std::move(open.back());
    open.pop_back();
    if (expressions.nullable(expression)) texts.push_back(text);
    if (texts.size() + open.size() > kMaxItemTexts || text.size() > kMaxItemBytes)
      return std::nullopt;
    const ByteSet first = expressions.first_bytes(expression);
    for (int byte = 0; byte < 256; ++byte) {
      if (!first.contains(static_cast<uint8_t>(byte))) continue;
      const ExpressionId next = expressions.derivative(expression, static_cast<uint8_t>(byte));
      if (!expressions.is_empty(next)) open.emplace_back(text + static_cast<char>(byte), next);
    }
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// Writes an array as one expression: items of the positions, and each text at most once.
class UniqueItems {
 public:
  UniqueItems(Expressions& expressions, ExpressionId comma)
      : expressions_(expressions), comma_(comma) {}

  /// An item of `first`, then some of `item`, `min` to `max` of these.
  ExpressionId list(ExpressionId first, ExpressionId item, uint32_t min, uint32_t max) {
    return expressions_.concatenate(
        first, expressions_.repeat(expressions_.concatenate(comma_, item), min, max));
  }

  /// Items of which at most one is `text`; the others are `other`.
  ExpressionId at_most_once(ExpressionId text, ExpressionId other) {
    const ExpressionId none_more = list(text, other, 0, Expressions::kUnbounded);
    const ExpressionId others = list(other, other, 0, Expressions::kUnbounded);
    const ExpressionId one_behind = expressions_.concatenate(
        others, expressions_.optional(expressions_.concatenate(comma_, none_more)));
    return expressions_.optional(expressions_.alternate(none_more, one_behind));
  }

 private:
  Expressions& expressions_;
  ExpressionId comma_;
};

}  // namespace

Symbol SchemaGrammar::unique_array(const ArraySet& set) {
  if (set.max <= 1) return array(set);
  const auto refuse = [&] {
    algebra_.refuse("uniqueItems", set.location, "its items have too many values");
  };
  uint64_t prefix = 0;
  for (const ItemGroup& group : set.groups) {
    prefix = std::max<uint64_t>(prefix, group.prefix.size());
  }
  if (!set.some.empty() || prefix > kMaxItemTexts) refuse();
  std::vector<ExpressionId> positions;
  for (uint64_t i = 0; i <= prefix; ++i) {
    const ConjunctionId value = algebra_.item_value(set, i);
    const ValueSet& items = algebra_.values(value);
    const auto possible = [this](const auto& part) { return algebra_.is_possible(part); };
    if (std::any_of(items.objects.begin(), items.objects.end(), possible) ||
        std::any_of(items.arrays.begin(), items.arrays.end(), possible)) {
      refuse();
    }
    // Equal numbers are to be equal texts.
    positions.push_back(expressions_.intersect(
        scalars(items), expressions_.complement(algebra_.numbers().redundant_spellings())));
  }
  const auto texts = list_texts(expressions_, expressions_.alternate(positions));
  if (!texts) refuse();
  const auto limit = static_cast<uint32_t>(std::min<uint64_t>(set.max, texts->size()));
  if (set.min > limit) return builder_.choice({});

  // From the last position on backwards, without the first comma.
  ExpressionId result = expressions_.epsilon();
  for (uint32_t i = limit; i-- > 0;) {
    const ExpressionId item = positions[std::min<uint64_t>(i, prefix)];
    const ExpressionId comma = i == 0 ? expressions_.epsilon() : comma_text_;
    result = expressions_.concatenate(std::vector{comma, item, result});
    if (i >= set.min) result = expressions_.optional(result);
  }
  UniqueItems unique(expressions_, comma_text_);
  std::vector<ExpressionId> parts = {result};
  for (const std::string& text : *texts) {
    std::vector<std::string> others = *texts;
    std::erase(others, text);
    parts.push_back(
        unique.at_most_once(expressions_.literal(text), expressions_.one_of(std::move(others))));
  }
  const ExpressionId items = expressions_.intersect(parts);
  const ExpressionId none = expressions_.epsilon();
  std::vector<Symbol> choices = {builder_.sequence(
      {builder_.terminal(expressions_.intersect(items, expressions_.complement(none))),
       close(']', false)})};
  if (expressions_.nullable(items)) choices.push_back(close(']', true));
  return builder_.choice(std::move(choices));
}

}  // namespace heed::constrain
