#include "heed/tensor/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heed {
namespace {

float rounded_to_float16(float value) { return static_cast<float>(float16(value)); }

float16 of_bits(uint32_t bits) {
  float16 number;
  number.bits = static_cast<uint16_t>(bits);
  return number;
}

TEST(Float16, ConvertsEveryValueExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto wide = static_cast<float>(of_bits(bits));
    if ((bits & 0x7fffu) > 0x7c00u) {
      EXPECT_TRUE(std::isnan(wide) && std::isnan(rounded_to_float16(wide))) << bits;
    } else {
      EXPECT_EQ(float16(wide).bits, bits);
    }
  }
}

TEST(Float16, HasTheValueOfItsBits) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const int exponent = static_cast<int>(bits >> 10);
    const auto significand = static_cast<float>((bits & 0x3ffu) + (exponent ? 1024 : 0));
    const float expected = std::ldexp(significand, (exponent ? exponent : 1) - 25);
    EXPECT_EQ(static_cast<float>(of_bits(bits)), expected);
    EXPECT_EQ(static_cast<float>(of_bits(bits | 0x8000u)), -expected);
  }
  EXPECT_EQ(static_cast<float>(of_bits(0x7c00)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(static_cast<float>(of_bits(0xfc00)), -std::numeric_limits<float>::infinity());
}

/// Between all neighbours: below the middle, at the middle, above it.
TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<float>(of_bits(bits)),
               high = static_cast<float>(of_bits(bits + 1));
    const float middle = 0.5f * (low + high);  // exact
    EXPECT_EQ(float16(middle).bits, bits + (bits & 1u));
    EXPECT_EQ(float16(std::nextafter(middle, 0.0f)).bits, bits);
    EXPECT_EQ(float16(-std::nextafter(middle, 1e9f)).bits, (bits + 1) | 0x8000u);
  }
}

TEST(Float16, OverflowsToInfinity) {
  EXPECT_EQ(rounded_to_float16(65519.996f), 65504.0f);
  EXPECT_TRUE(std::isinf(rounded_to_float16(65520.0f)));
  EXPECT_TRUE(std::isinf(rounded_to_float16(std::numeric_limits<float>::max())));
  EXPECT_EQ(rounded_to_float16(-1e30f), -std::numeric_limits<float>::infinity());
}

TEST(Float16, UnderflowsToZeroOfTheSameSign) {
  EXPECT_EQ(float16(0x1p-25f).bits, 0u);
  EXPECT_EQ(float16(0x1.000002p-25f).bits, 1u);
  EXPECT_EQ(float16(-0x1p-140f).bits, 0x8000u);
  EXPECT_TRUE(std::signbit(rounded_to_float16(-0.0f)));
}

TEST(Float16, KeepsNaN) {
  EXPECT_TRUE(std::isnan(rounded_to_float16(std::numeric_limits<float>::quiet_NaN())));
  // A NaN whose significand has only low bits, which truncation would make infinite.
  EXPECT_TRUE(std::isnan(rounded_to_float16(std::bit_cast<float>(0x7f800001u))));
}

}  // namespace
}  // namespace heed
