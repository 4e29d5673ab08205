#include "heed/constrain/schema/number_language.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/constrain/regex.h"

namespace heed::constrain {
namespace {

using SignPart = NumberSet::Part;

constexpr uint32_t kAnyCount = Expressions::kUnbounded;

SignPart both_parts(SignPart a, SignPart b) {
  if (a == SignPart::kNone || b == SignPart::kNone) return SignPart::kNone;
  return a == SignPart::kAll && b == SignPart::kAll ? SignPart::kAll : SignPart::kSome;
}

SignPart opposite_part(SignPart part) {
  return part == SignPart::kAll    ? SignPart::kNone
         : part == SignPart::kNone ? SignPart::kAll
                                   : SignPart::kSome;
}

uint32_t length_of(const std::string& digits) { return static_cast<uint32_t>(digits.size()); }

}  // namespace

NumberLanguage::NumberLanguage(Expressions& expressions)
    : expressions_(expressions),
      digit_(pattern("[0-9]")),
      digits_(pattern("[0-9]*")),
      fraction_(pattern("(?:\\.[0-9]+)?")),
      minus_(expressions.literal("-")),
      unsigned_(pattern("(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?")),
      decimal_(expressions.concatenate(expressions.optional(minus_), unsigned_)),
      integer_(pattern("-?(?:0|[1-9][0-9]*)(?:\\.0+)?")) {}

ExpressionId NumberLanguage::pattern(const char* text) {
  const auto [place, inserted] = patterns_.try_emplace(text);
  if (inserted) place->second = compile_pattern(expressions_, text);
  return place->second;
}

NumberSet NumberLanguage::one_of(const std::vector<Decimal>& values) {
  std::vector<std::string> integers, fractions;
  for (const Decimal& value : values) {
    (value.is_integer() ? integers : fractions).push_back(value.plain());
    if (value.is_zero()) integers.emplace_back("-0");
  }
  const ExpressionId decimals = expressions_.alternate(
      expressions_.concatenate(expressions_.one_of(std::move(integers)), pattern("(?:\\.0+)?")),
      expressions_.concatenate(expressions_.one_of(std::move(fractions)), pattern("0*")));
  return {decimals, SignPart::kSome, SignPart::kSome};
}

ExpressionId NumberLanguage::fraction_above(const std::string& fraction, bool exclusive) {
  if (fraction.empty()) return exclusive ? pattern("\\.[0-9]*[1-9][0-9]*") : fraction_;
  std::vector<ExpressionId> choices;
  for (size_t i = 0; i < fraction.size(); ++i) {
    if (fraction[i] == '9') continue;
    const ByteSet greater = ByteSet::range(static_cast<uint8_t>(fraction[i] + 1), '9');
    choices.push_back(expressions_.concatenate(std::vector{
        expressions_.literal("." + fraction.substr(0, i)), expressions_.bytes(greater), digits_}));
  }
  choices.push_back(expressions_.concatenate(expressions_.literal("." + fraction),
                                             exclusive ? pattern("[0-9]*[1-9][0-9]*") : digits_));
  return expressions_.alternate(choices);
}

ExpressionId NumberLanguage::fraction_below(const std::string& fraction, bool exclusive) {
  if (fraction.empty()) return exclusive ? expressions_.none() : pattern("(?:\\.0+)?");
  std::vector<ExpressionId> choices = {expressions_.epsilon()};
  for (size_t i = 0; i < fraction.size(); ++i) {
    const ExpressionId prefix = expressions_.literal("." + fraction.substr(0, i));
    if (i > 0) choices.push_back(prefix);
    if (fraction[i] == '0') continue;
    const ByteSet less = ByteSet::range('0', static_cast<uint8_t>(fraction[i] - 1));
    choices.push_back(
        expressions_.concatenate(std::vector{prefix, expressions_.bytes(less), digits_}));
  }
  if (!exclusive) {
    choices.push_back(
        expressions_.concatenate(expressions_.literal("." + fraction), pattern("0*")));
  }
  return expressions_.alternate(choices);
}

ExpressionId NumberLanguage::above(const Decimal& bound, bool exclusive) {
  const std::string integer = bound.integer_part();
  const uint32_t length = length_of(integer);
  std::vector<ExpressionId> choices = {expressions_.concatenate(
      std::vector{pattern("[1-9]"), expressions_.repeat(digit_, length, kAnyCount), fraction_})};
  for (size_t i = 0; i < integer.size(); ++i) {
    if (integer[i] == '9') continue;
    const ByteSet greater = ByteSet::range(static_cast<uint8_t>(integer[i] + 1), '9');
    const uint32_t rest = length - static_cast<uint32_t>(i) - 1;
    choices.push_back(expressions_.concatenate(
        std::vector{expressions_.literal(integer.substr(0, i)), expressions_.bytes(greater),
                    expressions_.repeat(digit_, rest, rest), fraction_}));
  }
  choices.push_back(expressions_.concatenate(expressions_.literal(integer),
                                             fraction_above(bound.fraction(), exclusive)));
  return expressions_.alternate(choices);
}

ExpressionId NumberLanguage::below(const Decimal& bound, bool exclusive) {
  const std::string integer = bound.integer_part();
  const uint32_t length = length_of(integer);
  std::vector<ExpressionId> choices = {expressions_.concatenate(
      expressions_.literal(integer), fraction_below(bound.fraction(), exclusive))};
  if (length > 1) {
    choices.push_back(expressions_.concatenate(
        std::vector{pattern("[1-9]"), expressions_.repeat(digit_, 0, length - 2), fraction_}));
    choices.push_back(expressions_.concatenate(expressions_.literal("0"), fraction_));
  }
  for (size_t i = 0; i < integer.size(); ++i) {
    const char least = i == 0 && length > 1 ? '1' : '0';
    if (integer[i] <= least) continue;
    const ByteSet less =
        ByteSet::range(static_cast<uint8_t>(least), static_cast<uint8_t>(integer[i] - 1));
    const uint32_t rest = length - static_cast<uint32_t>(i) - 1;
    choices.push_back(expressions_.concatenate(
        std::vector{expressions_.literal(integer.substr(0, i)), expressions_.bytes(less),
                    expressions_.repeat(digit_, rest, rest), fraction_}));
  }
  return expressions_.alternate(choices);
}

NumberSet NumberLanguage::at_least(const Decimal& bound, bool exclusive) {
  if (!bound.negative && !bound.is_zero()) {
    return {above(bound, exclusive), SignPart::kSome, SignPart::kNone};
  }
  // Negative numbers of a smaller absolute value, and all others. -0 is among the former.
  const ExpressionId negative = expressions_.concatenate(minus_, below(bound, exclusive));
  const ExpressionId others = bound.is_zero() ? above(bound, exclusive) : unsigned_;
  return {expressions_.alternate(negative, others), SignPart::kAll,
          bound.is_zero() ? SignPart::kNone : SignPart::kSome};
}

NumberSet NumberLanguage::at_most(const Decimal& bound, bool exclusive) {
  Decimal opposite = bound;
  opposite.negative = !bound.negative && !bound.is_zero();
  if (bound.negative) {
    return {expressions_.concatenate(minus_, above(opposite, exclusive)), SignPart::kNone,
            SignPart::kSome};
  }
  const ExpressionId negative =
      expressions_.concatenate(minus_, bound.is_zero() ? above(bound, exclusive) : unsigned_);
  return {expressions_.alternate(negative, below(bound, exclusive)),
          bound.is_zero() ? SignPart::kNone : SignPart::kSome, SignPart::kAll};
}

NumberSet NumberLanguage::multiples_of(const Decimal& divisor) {
  require(divisor.integer_part().size() + divisor.fraction().size() <= 9,
          "it has more than 9 digits");
  const std::string fraction = divisor.fraction();
  const auto scaled = static_cast<uint32_t>(std::stoul(divisor.integer_part() + fraction));
  const ExpressionId digits = expressions_.multiples_of(scaled, length_of(fraction));
  return {expressions_.intersect(decimal_,
                                 expressions_.concatenate(expressions_.optional(minus_), digits)),
          SignPart::kSome, SignPart::kSome};
}

NumberSet NumberLanguage::intersect(const NumberSet& a, const NumberSet& b) {
  ExpressionId decimals = expressions_.none();
  if (a.decimals == decimal_ || b.decimals == decimal_) {
    decimals = a.decimals == decimal_ ? b.decimals : a.decimals;
  } else {
    decimals = expressions_.intersect(a.decimals, b.decimals);
  }
  return {decimals, both_parts(a.positive, b.positive), both_parts(a.negative, b.negative),
          a.whole || b.whole};
}

NumberSet NumberLanguage::unite(const NumberSet& a, const NumberSet& b) {
  const auto either = [](SignPart x, SignPart y) {
    return opposite_part(both_parts(opposite_part(x), opposite_part(y)));
  };
  const ExpressionId decimals = a.decimals == decimal_ || b.decimals == decimal_
                                    ? decimal_
                                    : expressions_.alternate(a.decimals, b.decimals);
  const auto is_whole = [this](const NumberSet& set) {
    return set.whole || set.decimals == expressions_.none();
  };
  return {decimals, either(a.positive, b.positive), either(a.negative, b.negative),
          is_whole(a) && is_whole(b)};
}

NumberSet NumberLanguage::complement(const NumberSet& set) {
  ExpressionId decimals = decimal_;
  if (set.decimals == decimal_) {
    decimals = expressions_.none();
  } else if (set.decimals != expressions_.none()) {
    decimals = expressions_.intersect(decimal_, expressions_.complement(set.decimals));
  }
  return {decimals, opposite_part(set.positive), opposite_part(set.negative)};
}

bool NumberLanguage::is_empty(const NumberSet& set) {
  return set.decimals != decimal_ && expressions_.is_empty(set.decimals);
}

ExpressionId NumberLanguage::spellings(const NumberSet& set) {
  if (set.whole) {
    const ExpressionId integers = pattern("0|-?[1-9][0-9]{0,63}");
    return set.decimals == integer_ ? integers : expressions_.intersect(set.decimals, integers);
  }
  const ExpressionId written = pattern("-?(?:0|[1-9][0-9]{0,63})(?:\\.[0-9]{1,32})?");
  std::vector<ExpressionId> choices = {
      set.decimals == decimal_ ? written : expressions_.intersect(set.decimals, written)};
  const ExpressionId scientific =
      pattern("[1-9][0-9]{0,9}(?:\\.[0-9]{1,32})?[eE][+-]?(?:[0-9]{1,2}|[12][0-9]{2})");
  if (set.positive == SignPart::kAll) choices.push_back(scientific);
  if (set.negative == SignPart::kAll)
    choices.push_back(expressions_.concatenate(minus_, scientific));
  return expressions_.alternate(choices);
}

}  // namespace heed::constrain
