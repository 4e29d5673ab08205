#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/grammar.h"
#include "tests/constrain/plain_language.h"

namespace heed::constrain {

/// A random grammar of a few rules over the letters a and b: recursive in every way, ambiguous,
/// with terminals that may be empty. nullptr if it derives no text.
inline std::pair<std::shared_ptr<const Constraint>, PlainLanguage> random_grammar(uint32_t seed,
                                                                                  bool fold) {
  GrammarBuilder builder;
  RandomLanguage random(builder.expressions(), seed);
  PlainGrammar plain;
  std::vector<Symbol> rules;
  const size_t count = 1 + random.below(4);
  for (size_t i = 0; i < count; ++i) rules.push_back(builder.declare("rule"));
  for (size_t i = 0; i < count; ++i) {
    std::vector<Symbol> alternatives;
    std::vector<std::vector<PlainGrammar::Part>> plain_alternatives;
    for (uint32_t choices = 1 + random.below(3); choices > 0; --choices) {
      std::vector<Symbol> parts;
      std::vector<PlainGrammar::Part> plain_parts;
      for (uint32_t length = random.below(4); length > 0; --length) {
        if (random.below(2) == 0) {
          const size_t rule = random.below(static_cast<uint32_t>(count));
          parts.push_back(rules[rule]);
          plain_parts.push_back({std::nullopt, rule});
        } else {
          const auto [expression, language] = random.expression(static_cast<int>(random.below(3)));
          parts.push_back(builder.terminal(expression));
          plain_parts.push_back({language});
        }
      }
      alternatives.push_back(builder.sequence(std::move(parts)));
      plain_alternatives.push_back(std::move(plain_parts));
    }
    builder.define(rules[i], builder.choice(std::move(alternatives)));
    plain.rules.push_back(std::move(plain_alternatives));
  }
  if (fold) builder.fold_regular_parts();
  const PlainLanguage language = plain.language_of_first_rule();
  try {
    return {std::make_shared<const Constraint>(std::move(builder), rules[0]), language};
  } catch (const Error&) {
    return {nullptr, language};
  }
}

}  // namespace heed::constrain
