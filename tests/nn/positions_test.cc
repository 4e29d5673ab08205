#include "heed/nn/positions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heed::nn {
namespace {

TEST(Sinusoids, AreThePapersFormula) {
  const Tensor table = sinusoids(50, 8, kernels::PairLayout::interleaved);
  for (int64_t p : {0, 1, 7, 49})
    for (int64_t i = 0; i < 4; ++i) {
      const double angle =
          static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 8);
      EXPECT_NEAR(table.data<float>()[p * 8 + 2 * i], std::sin(angle), 1e-6);
      EXPECT_NEAR(table.data<float>()[p * 8 + 2 * i + 1], std::cos(angle), 1e-6);
    }
}

TEST(Sinusoids, HalvesHoldTheSameNumbersInAnotherOrder) {
  const Tensor a = sinusoids(20, 6, kernels::PairLayout::interleaved);
  const Tensor b = sinusoids(20, 6, kernels::PairLayout::halves);
  for (int64_t p = 0; p < 20; ++p)
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(a.data<float>()[p * 6 + 2 * i], b.data<float>()[p * 6 + i]);
      EXPECT_EQ(a.data<float>()[p * 6 + 2 * i + 1], b.data<float>()[p * 6 + 3 + i]);
    }
}

TEST(Positions, CountWithinEachSequence) {
  EXPECT_EQ(positions_within({0, 3, 4, 6}), (std::vector<int32_t>{0, 1, 2, 0, 0, 1}));
}

}  // namespace
}  // namespace heed::nn
