#include "heed/constrain/schema/number_language.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

namespace heed::constrain {
namespace {

/// -12.00, -11.75, ... 12.00 and what lies beside bounds of several digits.
std::vector<std::string> some_numbers() {
  std::vector<std::string> numbers = {"99",   "100",  "101", "109.99", "-100.0", "-99.999",
                                      "1000", "0.05", "0.5", "-0.05",  "-0",     "0.0"};
  for (int quarter = -48; quarter <= 48; ++quarter) {
    numbers.push_back(fmt::format("{:.2f}", quarter / 4.0));
    if (quarter % 4 == 0) numbers.push_back(std::to_string(quarter / 4));
  }
  return numbers;
}

class NumberLanguageTest : public testing::Test {
 protected:
  /// Checks that a set holds exactly the numbers for which `holds`.
  template <typename Predicate>
  void expect_exactly(const NumberSet& set, const Predicate& holds, const std::string& what) {
    for (const std::string& text : some_numbers()) {
      EXPECT_EQ(expressions_.matches(set.decimals, text), holds(Decimal::parse(text)))
          << text << " " << what;
    }
  }
  Expressions expressions_;
  NumberLanguage numbers_{expressions_};
};

TEST_F(NumberLanguageTest, BoundsAreExact) {
  for (const char* bound :
       {"0", "5", "-5", "10", "100", "-100", "1.25", "-1.75", "0.05", "-0.5", "99.99", "7.0"}) {
    const Decimal limit = Decimal::parse(bound);
    for (const bool exclusive : {false, true}) {
      const std::string what = fmt::format("{} {}", bound, exclusive);
      expect_exactly(
          numbers_.at_least(limit, exclusive),
          [&](const Decimal& x) { return compare(x, limit) >= (exclusive ? 1 : 0); },
          "at least " + what);
      expect_exactly(
          numbers_.at_most(limit, exclusive),
          [&](const Decimal& x) { return compare(x, limit) <= (exclusive ? -1 : 0); },
          "at most " + what);
    }
    expect_exactly(
        numbers_.one_of({limit}), [&](const Decimal& x) { return compare(x, limit) == 0; },
        fmt::format("equal to {}", bound));
  }
}

TEST_F(NumberLanguageTest, MultiplesAreExact) {
  for (const auto& [divisor, hundredths] : std::initializer_list<std::pair<const char*, int>>{
           {"1", 100}, {"3", 300}, {"0.25", 25}, {"0.01", 1}, {"2.5", 250}, {"7", 700}}) {
    expect_exactly(
        numbers_.multiples_of(Decimal::parse(divisor)),
        [step = hundredths](const Decimal& x) {
          const double scaled = std::stod(x.plain()) * 100;
          return std::abs(scaled - std::round(scaled)) < 1e-6 && std::llround(scaled) % step == 0;
        },
        fmt::format("multiple of {}", divisor));
  }
}

TEST_F(NumberLanguageTest, IntegersAreWrittenWithoutFraction) {
  const ExpressionId integers = numbers_.spellings(numbers_.integers());
  EXPECT_TRUE(expressions_.matches(integers, "-12"));
  EXPECT_FALSE(expressions_.matches(integers, "12.0"));
  const ExpressionId any = numbers_.spellings(numbers_.all());
  for (const char* text : {"10.0", "1e-05", "-2.5E+20"}) {
    EXPECT_TRUE(expressions_.matches(any, text)) << text;
  }
}

TEST_F(NumberLanguageTest, ExponentsFollowTheSign) {
  const NumberSet positive = numbers_.at_least(Decimal::parse("0"), false);
  EXPECT_TRUE(expressions_.matches(numbers_.spellings(positive), "1e-05"));
  EXPECT_FALSE(expressions_.matches(numbers_.spellings(positive), "-1e-05"));
  const ExpressionId others = numbers_.spellings(numbers_.complement(positive));
  EXPECT_TRUE(expressions_.matches(others, "-1e-05"));
  EXPECT_FALSE(expressions_.matches(others, "1e-05"));
}

}  // namespace
}  // namespace heed::constrain
