#include "heed/base/rounding.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace heed {
namespace {

TEST(Rounding, RoundsUpAndKeepsMultiples) {
  EXPECT_EQ(ceil_div(0, 8), 0);
  EXPECT_EQ(ceil_div(1, 8), 1);
  EXPECT_EQ(ceil_div(8, 8), 1);
  EXPECT_EQ(ceil_div(9, 8), 2);
  EXPECT_EQ(round_up(0, 8), 0);
  EXPECT_EQ(round_up(8, 8), 8);
  EXPECT_EQ(round_up(9, 8), 16);
}

TEST(Rounding, TheLargestNumberDoesNotOverflow) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ceil_div(kLargest, kLargest), 1);
  EXPECT_EQ(ceil_div(kLargest, 2), kLargest / 2 + 1);
}

}  // namespace
}  // namespace heed
