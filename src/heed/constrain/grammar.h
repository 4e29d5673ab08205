#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
/// since what a mask needs is computed once for each state of a terminal.
class GrammarBuilder {
 public:
  static constexpr uint32_t kUnbounded = Expressions::kUnbounded;

  Expressions& expressions() { return expressions_; }
  /// Counts the work of reading a text. Throws TooManySteps if that is too long.
  void spend_on(std::string_view text);

  /// A match of `expression`.
  Symbol terminal(ExpressionId expression);
  /// A match of the empty string.
  Symbol empty() { return sequence({}); }
  Symbol sequence(std::vector<Symbol> parts);
  Symbol choice(std::vector<Symbol> alternatives);
  Symbol optional(Symbol part) { return repeat(part, 0, 1); }
  /// `part` at least `min` and at most `max` times; kUnbounded: no limit. Throws Error if
  /// min > max, or if a counted repetition of anything but a terminal is too large.
  Symbol repeat(Symbol part, uint32_t min, uint32_t max);
  /// A rule that is defined later, and may then refer to itself. `name` is for error messages.
  Symbol declare(std::string name);
  /// Gives a declared symbol its body. Throws Error if it has one.
  void define(Symbol declared, Symbol body);
  /// Matches of `expression` may stand before, between and behind terminals.
  void ignore(ExpressionId expression);
  bool ignores_anything() const { return ignored_ != expressions_.none(); }
  /// Makes one terminal of each part that is regular: that refers to no rule that is recursive. For
  /// grammars whose terminals are single characters.
  void fold_regular_parts();
  /// Makes one terminal of a part, and returns what it matches. Throws Error if it is recursive, or
  /// needs a rule that is not defined.
  ExpressionId fold(Symbol part);

 private:
  friend class GrammarCompiler;
  friend class RegularParts;
  enum class Kind : uint8_t { terminal, sequence, choice, repetition, rule };
  struct Node {
    Kind kind;
    std::vector<Symbol> parts = {};  // of a rule: its body, once it is defined
    ExpressionId expression = {};    // of a terminal
    uint32_t min = 0, max = 0;       // of a repetition
    std::string name = {};           // of a rule
  };

  Symbol add(Node node);
  const Node& node(Symbol symbol) const { return nodes_[static_cast<uint32_t>(symbol)]; }

  Expressions expressions_;
  std::vector<Node> nodes_;
  ExpressionId ignored_ = expressions_.none();
  size_t copies_ = 0;  // that counted repetitions need
};

/// A grammar as rules over lexemes.
struct Grammar {
  static constexpr uint32_t kEnd = 0;
  enum class Part : uint8_t { end, lexeme, rule };
  /// What is left of a right-hand side: its first part and the item behind it. Equal rests are one
  /// item. Item kEnd is the empty rest.
  struct Item {
    Part part = Part::end;
    uint32_t index = 0;  // of the lexeme or the rule
    uint32_t next = kEnd;
  };
  struct Rule {
    std::vector<uint32_t> alternatives;  // items
    bool nullable = false;
    /// Rules that may begin with each other have the same component, a rule that may begin with
    /// others a higher one than these.
    uint32_t component = 0;
    bool left_recursive = false;
  };

  Expressions expressions;
  std::vector<ExpressionId> lexemes;
  std::vector<Item> items;
  std::vector<Rule> rules;
  uint32_t start = 0;  // a rule
  /// The lexeme that may stand between others.
  std::optional<uint32_t> ignored;

  bool can_be_empty(const Item& item) const {
    return item.part == Part::rule ? rules[item.index].nullable
                                   : expressions.nullable(lexemes[item.index]);
  }
};

/// Compiles the rules that `start` needs. Throws Error if it derives no string, or needs a rule
/// that is not defined.
Grammar compile(GrammarBuilder builder, Symbol start);

/// Throws Error, naming a byte that is missing if it is one alone, if every text of the grammar has
/// a byte that does not belong to `bytes`.
void require_text_of(const Grammar& grammar, const ByteSet& bytes);

}  // namespace heed::constrain
