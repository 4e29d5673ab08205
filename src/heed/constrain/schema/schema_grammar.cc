#include "heed/constrain/schema/schema_grammar.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

/// White space at one place of a text.
constexpr uint32_t kMaxSpace = 64;
/// Rules that a schema may need.
constexpr size_t kMaxRules = 200'000;
/// What deciding on one costs, relative to a node of an expression.
constexpr size_t kRuleCost = 4;

ByteSet json_space() {
  ByteSet set;
  for (const char c : {' ', '\t', '\n', '\r'}) set.add(static_cast<uint8_t>(c));
  return set;
}

}  // namespace

SchemaGrammar::SchemaGrammar(GrammarBuilder& builder, SchemaAlgebra& algebra)
    : builder_(builder), algebra_(algebra), expressions_(builder.expressions()) {
  const bool is_free = algebra.options().white_space == JsonWhiteSpace::free;
  space_ = is_free ? expressions_.repeat(expressions_.bytes(json_space()), 0, kMaxSpace)
                   : expressions_.epsilon();
  comma_text_ = punctuation(',', true, true);
  comma_ = builder_.terminal(comma_text_);
}

void SchemaGrammar::count_rule() {
  expressions_.spend(kRuleCost);
  require(++rules_ <= kMaxRules, "the schema needs more than {} rules", kMaxRules);
}

ExpressionId SchemaGrammar::punctuation(char text, bool before, bool behind) {
  std::string written(1, text);
  const bool spaced = algebra_.options().white_space == JsonWhiteSpace::spaced;
  if (spaced && (text == ',' || text == ':')) written += ' ';
  const ExpressionId none = expressions_.epsilon();
  return expressions_.concatenate(
      std::vector{before ? space_ : none, expressions_.literal(written), behind ? space_ : none});
}

ExpressionId SchemaGrammar::quote(ExpressionId strings) {
  const ExpressionId mark = expressions_.literal("\"");
  return expressions_.concatenate(std::vector{mark, strings, mark});
}

Symbol SchemaGrammar::key(ExpressionId names) {
  return builder_.terminal(expressions_.concatenate(quote(names), punctuation(':', true, true)));
}

Symbol SchemaGrammar::value(ConjunctionId id) {
  const auto known = symbols_.find(id);
  if (known != symbols_.end()) return known->second;
  count_rule();
  const Symbol symbol = builder_.declare("value");
  symbols_.emplace(id, symbol);
  unwritten_.push_back(id);
  return symbol;
}

void SchemaGrammar::finish() {
  while (!unwritten_.empty()) {
    const ConjunctionId id = unwritten_.back();
    unwritten_.pop_back();
    builder_.define(symbols_.at(id), body(id));
  }
}

Symbol SchemaGrammar::body(ConjunctionId id) {
  algebra_.work_for(id);
  const ValueSet& set = algebra_.values(id);
  algebra_.work_for(id);
  std::vector<Symbol> choices;
  const ExpressionId texts = scalars(set);
  if (texts != expressions_.none()) choices.push_back(builder_.terminal(texts));
  for (const ObjectSet& objects : set.objects) {
    if (!algebra_.is_possible(objects)) continue;
    choices.push_back(
        builder_.sequence({builder_.terminal(punctuation('{', false, true)), object(objects)}));
  }
  for (const ArraySet& arrays : set.arrays) {
    if (!algebra_.is_possible(arrays)) continue;
    choices.push_back(builder_.sequence({builder_.terminal(punctuation('[', false, true)),
                                         arrays.unique ? unique_array(arrays) : array(arrays)}));
  }
  return builder_.choice(std::move(choices));
}

ExpressionId SchemaGrammar::scalars(const ValueSet& set) {
  std::vector<ExpressionId> choices;
  if (set.null) choices.push_back(expressions_.literal("null"));
  if (set.booleans[0]) choices.push_back(expressions_.literal("false"));
  if (set.booleans[1]) choices.push_back(expressions_.literal("true"));
  if (!algebra_.numbers().is_empty(set.numbers)) {
    choices.push_back(algebra_.numbers().spellings(set.numbers));
  }
  TextLanguage& text = algebra_.text();
  if (!text.is_empty(set.strings)) {
    choices.push_back(quote(set.strings == text.all() ? text.all_spellings() : set.strings));
  }
  return expressions_.alternate(choices);
}

}  // namespace heed::constrain
