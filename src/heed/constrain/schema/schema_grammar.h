#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/constrain/grammar.h"
#include "heed/constrain/schema/algebra.h"

namespace heed::constrain {

/// Writes the grammar of the JSON texts of sets of values.
class SchemaGrammar {
 public:
  SchemaGrammar(GrammarBuilder& builder, SchemaAlgebra& algebra);

  /// The texts of the values of a conjunction. Its rules are written by finish().
  Symbol value(ConjunctionId id);
  void finish();

  /// Objects and arrays behind their opening bracket.
  Symbol object(const ObjectSet& set);
  Symbol array(const ArraySet& set);
  /// Arrays without equal items. Throws Error unless their items have few values.
  Symbol unique_array(const ArraySet& set);
  /// A string of `names` as the name of a member, and the colon.
  Symbol key(ExpressionId names);

  Symbol comma() const { return comma_; }
  /// A closing bracket. Behind the opening one, white space belongs to that.
  Symbol close(char bracket, bool is_behind_opening) {
    return builder_.terminal(punctuation(bracket, !is_behind_opening, false));
  }
  GrammarBuilder& builder() { return builder_; }
  SchemaAlgebra& algebra() { return algebra_; }
  /// Counts a rule. Throws Error once the grammar is too large.
  void count_rule();

 private:
  Symbol body(ConjunctionId id);
  ExpressionId scalars(const ValueSet& set);
  ExpressionId quote(ExpressionId strings);
  /// `text` with the white space that may stand before and behind it.
  ExpressionId punctuation(char text, bool before, bool behind);

  GrammarBuilder& builder_;
  SchemaAlgebra& algebra_;
  Expressions& expressions_;
  ExpressionId space_, comma_text_;
  Symbol comma_;
  std::map<ConjunctionId, Symbol> symbols_;
  std::vector<ConjunctionId> unwritten_;
  size_t rules_ = 0;
};

}  // namespace heed::constrain
