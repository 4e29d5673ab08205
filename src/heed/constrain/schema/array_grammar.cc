#include <algorithm>

#include "heed/constrain/schema/schema_grammar.h"

namespace heed::constrain {
namespace {

/// Items that are told apart by their position.
constexpr uint64_t kMaxPositions = 2000;
/// Kinds of items of which a number is counted.
constexpr size_t kMaxCountedKinds = 3;

/// Writes the rules of one set of arrays, behind "[". What may follow is a state: the position of
/// the next item, as far as it matters, and how many items so far satisfy each `some`.
class ArrayRules {
 public:
  ArrayRules(SchemaGrammar& grammar, const ArraySet& set)
      : grammar_(grammar), algebra_(grammar.algebra()), builder_(grammar.builder()), set_(set) {
    for (const ItemGroup& group : set.groups) {
      last_ = std::max<uint64_t>(last_, group.prefix.size());
    }
    for (const SomeItems& some : set.some) last_ = std::max(last_, some.from);
    if (set.some.size() > kMaxCountedKinds) {
      algebra_.refuse("contains", set.location, "it counts too many kinds of items");
    }
    if (!set.some.empty()) {
      last_ = std::max(last_, set.max == kNoLimit ? set.min : set.max);
    }
    if (last_ > kMaxPositions)
      algebra_.refuse("contains", set.location, "it has too many positions");
  }

  Symbol write() {
    return set_.some.empty() ? positions() : items(0, std::vector<uint64_t>(set_.some.size(), 0));
  }

 private:
  using Counts = std::vector<uint64_t>;

  Symbol positions();
  Symbol rest(bool is_first);
  Symbol items(uint64_t position, const Counts& counts);
  void add_items(std::vector<Symbol>& choices, uint64_t position, const Counts& counts);
  Symbol item(uint64_t position, ConjunctionId value) {
    if (position == 0) return grammar_.value(value);
    return builder_.sequence({grammar_.comma(), grammar_.value(value)});
  }

  SchemaGrammar& grammar_;
  SchemaAlgebra& algebra_;
  GrammarBuilder& builder_;
  const ArraySet& set_;
  uint64_t last_ = 0;  // all positions from here on are alike
  std::map<std::pair<uint64_t, Counts>, Symbol> states_;
};

/// Items behind the positions that are told apart.
Symbol ArrayRules::rest(bool is_first) {
  const uint64_t min = set_.min - std::min(set_.min, last_);
  const uint64_t max = set_.max == kNoLimit ? kNoLimit : set_.max - std::min(set_.max, last_);
  const ConjunctionId value = algebra_.item_value(set_, last_);
  const Symbol close = grammar_.close(']', is_first);
  if (max == 0 || algebra_.is_empty(value)) return min == 0 ? close : builder_.choice({});
  const uint64_t before = is_first ? 1 : 0;  // items that have no comma before them
  const auto count = [&](uint64_t number) {
    if (number == kNoLimit) return Expressions::kUnbounded;
    if (number > kMaxPositions)
      algebra_.refuse("minItems or maxItems", set_.location, "it is too large");
    return static_cast<uint32_t>(number - std::min(number, before));
  };
  const Symbol repeated = builder_.repeat(
      builder_.sequence({grammar_.comma(), grammar_.value(value)}), count(min), count(max));
  if (!is_first) return builder_.sequence({repeated, close});
  const Symbol some =
      builder_.sequence({grammar_.value(value), repeated, grammar_.close(']', false)});
  return min == 0 ? builder_.choice({close, some}) : some;
}

Symbol ArrayRules::positions() {
  Symbol result = rest(last_ == 0);
  for (uint64_t i = last_; i-- > 0;) {
    std::vector<Symbol> choices;
    if (i >= set_.min) choices.push_back(grammar_.close(']', i == 0));
    const ConjunctionId value = algebra_.item_value(set_, i);
    if (i < set_.max && !algebra_.is_empty(value)) {
      choices.push_back(builder_.sequence({item(i, value), result}));
    }
    grammar_.count_rule();
    result = builder_.choice(std::move(choices));
  }
  return result;
}

void ArrayRules::add_items(std::vector<Symbol>& choices, uint64_t position, const Counts& counts) {
  const ConjunctionId any = algebra_.item_value(set_, position);
  for (unsigned bits = 0; bits < 1U << counts.size(); ++bits) {
    Counts next = counts;
    ConjunctionId value = any;
    for (size_t i = 0; i < counts.size() && value != kNothing; ++i) {
      const SomeItems& some = set_.some[i];
      const bool counted = bits >> i & 1;
      const bool has_limit = some.max != kNoLimit;
      if (position < some.from || (!has_limit && counts[i] == some.min)) {
        if (counted) value = kNothing;  // the same as not counting it
      } else if (counted) {
        value = ++next[i] > some.max ? kNothing : algebra_.both(value, some.value);
      } else if (has_limit) {
        value = algebra_.both(value, algebra_.outside(some.value));
      }
    }
    if (algebra_.is_empty(value)) continue;
    choices.push_back(
        builder_.sequence({item(position, value),
                           items(std::min(position + 1, std::max<uint64_t>(last_, 1)), next)}));
  }
}

Symbol ArrayRules::items(uint64_t position, const Counts& counts) {
  const auto known = states_.find({position, counts});
  if (known != states_.end()) return known->second;
  grammar_.count_rule();
  const Symbol symbol = builder_.declare("items");
  states_.emplace(std::pair(position, counts), symbol);
  std::vector<Symbol> choices;
  bool enough = position >= set_.min;
  for (size_t i = 0; i < counts.size(); ++i) enough = enough && counts[i] >= set_.some[i].min;
  if (enough) choices.push_back(grammar_.close(']', position == 0));
  if (position < set_.max) add_items(choices, position, counts);
  builder_.define(symbol, builder_.choice(std::move(choices)));
  return symbol;
}

}  // namespace

Symbol SchemaGrammar::array(const ArraySet& set) {
  if (set.repeating) algebra_.refuse("uniqueItems", set.location, "it is negated");
  return ArrayRules(*this, set).write();
}

}  // namespace heed::constrain
