#include "heed/data/mixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "heed/base/error.h"
#include "heed/data/permutation.h"

namespace heed::data {
namespace {

using Counts = std::vector<int64_t>;

TEST(Permutation, HasEachNumberOnceInAnOrderOfItsOwn) {
  for (const int64_t size : {1, 2, 3, 15, 16, 17, 1000}) {
    std::vector<int64_t> sorted, other;
    for (int64_t i = 0; i < size; ++i) {
      sorted.push_back(Permutation(size, 1, 2)(i));
      other.push_back(Permutation(size, 1, 3)(i));
    }
    EXPECT_TRUE(size < 15 || sorted != other);
    std::ranges::sort(sorted);
    Counts all(static_cast<size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all) << size;
  }
}

// Neighbours must not stay together, nor early numbers early.
TEST(Permutation, LooksRandom) {
  constexpr int64_t kSize = 10'000;
  const Permutation permutation(kSize, 7, 7);
  double sum = 0, near = 0;
  for (int64_t i = 0; i + 1 < kSize; ++i) {
    sum += static_cast<double>(permutation(i)) * static_cast<double>(i);
    near += std::abs(permutation(i) - permutation(i + 1)) < kSize / 10;
  }
  const double mean = (kSize - 1) / 2.0;
  const double correlation = (sum / kSize - mean * mean) / (kSize * kSize / 12.0);
  EXPECT_LT(std::abs(correlation), 0.05);
  EXPECT_NEAR(near / kSize, 0.19, 0.02);  // of two random places: 1 - 0.9^2
}

TEST(Mixture, DrawsInProportionToSharesOrSizes) {
  EXPECT_EQ(Mixture({10, 30}).draws(), (Counts{10, 30}));
  EXPECT_EQ(Mixture({10, 30}, std::vector{3.0, 1.0}, 1).draws(), (Counts{30, 10}));
  const std::vector<double> shares = temperature_shares(std::vector<int64_t>{100, 10'000}, 2);
  EXPECT_DOUBLE_EQ(shares[0] / shares[1], 0.1);
  EXPECT_DOUBLE_EQ(shares[0] + shares[1], 1);
  EXPECT_EQ(apportion(10, std::vector{1.0, 1.0, 1.0}), (Counts{4, 3, 3}));
  EXPECT_EQ(apportion(4, std::vector{1e-9, 1.0, 1e-9}), (Counts{1, 2, 1}));
  EXPECT_THROW(apportion(1, std::vector{1.0, 1.0}), Error);
}

// A corpus that is drawn less often must not be the same part of itself in every epoch.
TEST(Mixture, GoesThroughEachCorpusEvenly) {
  const Mixture mixture({7, 40}, std::vector{2.0, 1.0}, 5);
  const int64_t small = mixture.draws()[0], large = mixture.draws()[1];
  EXPECT_EQ(small + large, 47);
  std::vector<int64_t> times(47);
  const int64_t epochs = 40;
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (int64_t place = 0; place < mixture.size(); ++place)
      ++times[static_cast<size_t>(mixture.example(epoch, place))];
  for (size_t i = 0; i < times.size(); ++i) {
    const int64_t drawn = epochs * (i < 7 ? small : large), size = i < 7 ? 7 : 40;
    EXPECT_GE(times[i], drawn / size) << i;
    EXPECT_LE(times[i], drawn / size + 1) << i;
  }
}

TEST(Mixture, DrawsInAnotherOrderEachTime) {
  const Mixture mixture({50, 50}, std::vector{3.0, 1.0}, 5);
  const auto epoch_of = [&](int64_t epoch) {
    std::vector<int64_t> examples;
    for (int64_t place = 0; place < 50; ++place) examples.push_back(mixture.example(epoch, place));
    return examples;
  };
  EXPECT_NE(epoch_of(0), epoch_of(1));
  EXPECT_EQ(epoch_of(1), epoch_of(1));
}

}  // namespace
}  // namespace heed::data
