#include "heed/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace heed {
namespace {

TEST(Mix64, EqualsSplitMix64) {
  // The first numbers of the published generator for seed 0.
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(mix64(2 * 0x9e3779b97f4a7c15u), 0x06c45d188009454fu);
}

TEST(CounterRandom, DependsOnlyOnSeedStreamAndCounter) {
  const CounterRandom random(7, 3);
  const uint64_t late = random.bits(1000);
  for (uint64_t i = 0; i < 1000; ++i) random.bits(i);
  EXPECT_EQ(random.bits(1000), late);
  EXPECT_EQ(CounterRandom(7, 3).bits(1000), late);
  EXPECT_NE(CounterRandom(8, 3).bits(1000), late);
  EXPECT_NE(CounterRandom(7, 4).bits(1000), late);
  EXPECT_NE(CounterRandom(3, 7).bits(1000), late);
}

TEST(CounterRandom, NeighbouringStreamsShareNoNumbers) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (uint64_t stream = 0; stream < 10; ++stream)
      for (uint64_t i = 0; i < 100; ++i) seen.insert(CounterRandom(seed, stream).bits(i));
  EXPECT_EQ(seen.size(), 10000u);
}

TEST(CounterRandom, UniformIsUniformOnTheUnitInterval) {
  const CounterRandom random(1);
  constexpr uint64_t kNumbers = 100000;
  double sum = 0;
  std::vector<int> bins(10);
  for (uint64_t i = 0; i < kNumbers; ++i) {
    const double x = random.uniform(i);
    ASSERT_TRUE(0 <= x && x < 1);
    sum += x;
    ++bins[static_cast<size_t>(10 * x)];
  }
  // Five standard deviations.
  EXPECT_NEAR(sum / kNumbers, 0.5, 5 * std::sqrt(1.0 / 12 / kNumbers));
  for (const int bin : bins) EXPECT_NEAR(bin, 10000, 5 * std::sqrt(9000));
}

TEST(CounterRandom, NormalHasTheMomentsOfTheStandardNormal) {
  const CounterRandom random(2);
  constexpr uint64_t kNumbers = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (uint64_t i = 0; i < kNumbers; ++i) {
    const double x = random.normal(i);
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kNumbers, 0, 5 * std::sqrt(1.0 / kNumbers));
  EXPECT_NEAR(squares / kNumbers, 1, 5 * std::sqrt(2.0 / kNumbers));
  EXPECT_NEAR(fourth / kNumbers, 3, 5 * std::sqrt(96.0 / kNumbers));
}

TEST(CounterRandom, BelowReturnsEveryNumberBelowTheBound) {
  const CounterRandom random(3);
  for (const uint64_t bound : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{10}}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < 1000; ++i) seen.insert(random.below(i, bound));
    EXPECT_EQ(seen.size(), bound);
    EXPECT_EQ(*seen.rbegin(), bound - 1);
  }
  for (uint64_t i = 0; i < 1000; ++i)
    EXPECT_LT(random.below(i, uint64_t{1} << 53), uint64_t{1} << 53);
}

}  // namespace
}  // namespace heed
