#include "heed/nn/positions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

namespace heed::nn {
namespace {

using kernels::PairLayout;

TEST(Sinusoids, FollowThePapersFormula) {
  const Tensor table = Sinusoids({50, 8, PairLayout::interleaved}).rows(50);
  for (int64_t p : {0, 1, 7, 49})
    for (int64_t i = 0; i < 4; ++i) {
      const double angle =
          static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 8);
      EXPECT_NEAR(table.data<float>()[p * 8 + 2 * i], std::sin(angle), 1e-6);
      EXPECT_NEAR(table.data<float>()[p * 8 + 2 * i + 1], std::cos(angle), 1e-6);
    }
}

TEST(Sinusoids, HalvesHoldTheSameNumbersInAnotherOrder) {
  const Tensor a = Sinusoids({20, 6, PairLayout::interleaved}).rows(20);
  const Tensor b = Sinusoids({20, 6, PairLayout::halves}).rows(20);
  for (int64_t p = 0; p < 20; ++p)
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(a.data<float>()[p * 6 + 2 * i], b.data<float>()[p * 6 + i]);
      EXPECT_EQ(a.data<float>()[p * 6 + 2 * i + 1], b.data<float>()[p * 6 + 3 + i]);
    }
}

TEST(Sinusoids, ComputeOnlyTheRowsThatAreNeeded) {
  const Sinusoids lazy({int64_t{1} << 24, 16, PairLayout::halves});
  const Tensor few = lazy.rows(3), more = lazy.rows(3000);
  EXPECT_LT(few.rows(), 1000);
  EXPECT_GE(more.rows(), 3000);
  EXPECT_LT(more.rows(), 10000);
  for (int64_t i = 0; i < few.elements(); ++i)
    ASSERT_EQ(few.data<float>()[i], more.data<float>()[i]);
  const Tensor whole = Sinusoids({3000, 16, PairLayout::halves}).rows(3000);
  for (int64_t i = 0; i < whole.elements(); ++i)
    ASSERT_EQ(whole.data<float>()[i], more.data<float>()[i]);
}

TEST(Sinusoids, HaveNoMoreRowsThanTheModelHasPositions) {
  const Sinusoids sinusoids({300, 4, PairLayout::halves});
  EXPECT_EQ(sinusoids.rows(1).rows(), 256);
  EXPECT_EQ(sinusoids.rows(300).rows(), 300);
  EXPECT_EQ(sinusoids.rows(301).rows(), 300);
}

TEST(Sinusoids, ServeSeveralThreadsAtOnce) {
  const Sinusoids shared({1 << 14, 8, PairLayout::halves});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int64_t count = 1; count < (1 << 14); count += 997) {
        const Tensor table = shared.rows(count);
        const float last = table.data<float>()[(count - 1) * 8];
        wrong += last != static_cast<float>(std::sin(static_cast<double>(count - 1)));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Positions, CountWithinEachSequence) {
  EXPECT_EQ(positions_within({0, 3, 4, 6}), (std::vector<int32_t>{0, 1, 2, 0, 0, 1}));
}

}  // namespace
}  // namespace heed::nn
