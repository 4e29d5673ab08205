#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/constrain/expressions.h"

namespace heed::constrain {

/// A part of a grammar that is being built: an index into its GrammarBuilder.
enum class Symbol : uint32_t {};

/// Builds a context-free grammar over bytes whose terminals are regular expressions. Any grammar is
/// allowed: ambiguous, recursive on the left, with empty rules and loops of them. It matches
/// exactly the strings that its rules derive; where a terminal ends is not decided by the longest
/// match.
///
/// Terminals should be as large as the parts that repeat in a text (a string, a number, `"key":`),
/// since masks are computed for each state of a terminal once.
class GrammarBuilder {
 public:
  Expressions& expressions() { return expressions_; }

  /// A match of `expression`.
  Symbol terminal(ExpressionId expression);
  /// A match of the empty string.
  Symbol empty();
  Symbol sequence(std::vector<Symbol> parts);
  Symbol choice(std::vector<Symbol> alternatives);
  Symbol optional(Symbol part);
  /// `part` at least `min` and at most `max` times (Expressions::kUnbounded: no limit). Throws
  /// Error if min > max. A counted repetition of anything but a terminal is copied; a large one
  /// throws Error.
  Symbol repeat(Symbol part, uint32_t min, uint32_t max);
  /// A rule that is defined later, and may then refer to itself. `name` is for error messages.
  Symbol declare(std::string name);
  /// Gives a declared symbol its body. Throws Error if it has one.
  void define(Symbol declared, Symbol body);
  /// Matches of `expression` may stand before, between and behind terminals.
  void ignore(ExpressionId expression);

 private:
  Expressions expressions_;
};

}  // namespace heed::constrain
