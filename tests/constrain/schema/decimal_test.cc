#include "heed/constrain/schema/decimal.h"

#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed::constrain {
namespace {

TEST(Decimal, EqualNumbersAreTheSameInEverySpelling) {
  for (const char* text : {"1.50", "15e-1", "0.15E+1", "150e-2"}) {
    EXPECT_EQ(Decimal::parse(text).plain(), "1.5") << text;
  }
  EXPECT_EQ(Decimal::parse("-0.0"), Decimal::parse("0e5"));
  EXPECT_EQ(Decimal::parse("12e3").plain(), "12000");
  EXPECT_EQ(Decimal::parse("-5e-3").plain(), "-0.005");
}

TEST(Decimal, ComparesBeyondThePrecisionOfDoubles) {
  const auto order = [](const char* a, const char* b) {
    return compare(Decimal::parse(a), Decimal::parse(b));
  };
  EXPECT_LT(order("9007199254740992", "9007199254740993"), 0);
  EXPECT_GT(order("0.1000000000000000000001", "0.1"), 0);
  EXPECT_GT(order("-1.5", "-2"), 0);
  EXPECT_LT(order("-1", "0"), 0);
  EXPECT_EQ(order("1e2", "100.0"), 0);
}

TEST(Decimal, RefusesNumbersOfTooManyDigits) {
  EXPECT_THROW(Decimal::parse("1e401"), Error);
  EXPECT_THROW(Decimal::parse("1e-99999999999999999999"), Error);
}

}  // namespace
}  // namespace heed::constrain
