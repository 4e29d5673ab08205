#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/constrain/expressions.h"
#include "heed/constrain/schema/decimal.h"

namespace heed::constrain {

/// A set of numbers: how its members are spelled in decimal notation, with all spellings of each
/// (1, 1.0, 1.00), so that intersections and complements of spellings are those of the numbers.
/// Exponents are left out there: they are allowed for the positive numbers if the set has all of
/// these, and likewise for the negative ones.
struct NumberSet {
  enum class Part : uint8_t { kNone, kSome, kAll };

  ExpressionId decimals;
  Part positive, negative;
  bool whole = false;  // written without a fraction: of the type "integer"

  bool operator==(const NumberSet&) const = default;
};

/// Makes sets of numbers, exactly.
class NumberLanguage {
 public:
  explicit NumberLanguage(Expressions& expressions);

  NumberSet all() const { return {decimal_, NumberSet::Part::kAll, NumberSet::Part::kAll}; }
  NumberSet none() const {
    return {expressions_.none(), NumberSet::Part::kNone, NumberSet::Part::kNone};
  }
  NumberSet integers() const {
    return {integer_, NumberSet::Part::kSome, NumberSet::Part::kSome, true};
  }
  NumberSet one_of(const std::vector<Decimal>& values);
  NumberSet at_least(const Decimal& bound, bool exclusive);
  NumberSet at_most(const Decimal& bound, bool exclusive);
  /// Throws Error if `divisor` has more than 9 digits.
  NumberSet multiples_of(const Decimal& divisor);

  NumberSet intersect(const NumberSet& a, const NumberSet& b);
  NumberSet unite(const NumberSet& a, const NumberSet& b);
  NumberSet complement(const NumberSet& set);
  bool is_empty(const NumberSet& set);

  /// How members of the set are written: with a limited number of digits.
  ExpressionId spellings(const NumberSet& set);
  /// The spellings of numbers but for the one of each number that has neither an exponent nor
  /// needless zeros: 1.0, 1.50, -0, 1e2.
  ExpressionId redundant_spellings() {
    return pattern("-0(?:\\.0*)?|-?[0-9]+\\.[0-9]*0|-?[0-9.]+[eE][-+0-9]+");
  }

 private:
  ExpressionId pattern(const char* text);
  /// Of numbers without a sign: greater than `bound`, or less, or equal to it if not `exclusive`.
  ExpressionId above(const Decimal& bound, bool exclusive);
  ExpressionId below(const Decimal& bound, bool exclusive);
  ExpressionId fraction_above(const std::string& fraction, bool exclusive);
  ExpressionId fraction_below(const std::string& fraction, bool exclusive);

  Expressions& expressions_;
  std::map<const char*, ExpressionId> patterns_;
  ExpressionId digit_, digits_, fraction_, minus_, unsigned_, decimal_, integer_;
};

}  // namespace heed::constrain
