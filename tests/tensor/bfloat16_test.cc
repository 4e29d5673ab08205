#include "heed/tensor/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heed {
namespace {

float rounded(float value) { return static_cast<float>(bfloat16(value)); }

TEST(Bfloat16, ConvertsEveryValueExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    bfloat16 number;
    number.bits = static_cast<uint16_t>(bits);
    const auto wide = static_cast<float>(number);
    if (std::isnan(wide))
      EXPECT_TRUE(std::isnan(rounded(wide))) << bits;
    else
      EXPECT_EQ(bfloat16(wide).bits, bits);
  }
}

TEST(Bfloat16, RoundsToTheNearest) {
  // Around 1 the values are 2^-7 apart.
  EXPECT_EQ(rounded(1 + 0x1p-9f), 1.0f);
  EXPECT_EQ(rounded(1 + 0x1.8p-8f), 1 + 0x1p-7f);
  EXPECT_EQ(rounded(-1 - 0x1.8p-8f), -1 - 0x1p-7f);
}

TEST(Bfloat16, RoundsTiesToEven) {
  EXPECT_EQ(rounded(1 + 0x1p-8f), 1.0f);
  EXPECT_EQ(rounded(1 + 0x3p-8f), 1 + 0x1p-6f);
}

TEST(Bfloat16, OverflowsToInfinity) {
  EXPECT_TRUE(std::isinf(rounded(std::numeric_limits<float>::max())));
  EXPECT_TRUE(std::isinf(rounded(-std::numeric_limits<float>::infinity())));
}

TEST(Bfloat16, KeepsNaN) {
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  // A NaN whose significand has only low bits, which truncation would make infinite.
  EXPECT_TRUE(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));
}

TEST(Bfloat16, KeepsSmallNumbersAndTheSignOfZero) {
  EXPECT_EQ(rounded(0x1p-133f), 0x1p-133f);
  EXPECT_TRUE(std::signbit(rounded(-0.0f)));
}

}  // namespace
}  // namespace heed
