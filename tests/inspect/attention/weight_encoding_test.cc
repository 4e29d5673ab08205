#include "heed/inspect/attention/weight_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/random.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

std::string encoded_weights(std::span<const float> weights, int floor) {
  WeightEncoder encoder(floor);
  encoder.add(weights);
  return encoder.take();
}

TEST(WeightEncoding, DecodedWeightsAreWithinOne255thAtEveryFloor) {
  std::vector<float> weights = {0.0f, 1.0f, 1.0f / 255, 1.0f / 512, 1e-9f};
  const CounterRandom random(1);
  for (uint64_t i = 0; i < 20000; ++i)
    weights.push_back(static_cast<float>(std::pow(random.uniform(i), 8)));
  for (const int floor : {1, 4, 8, 12, kMaxFloor}) {
    const std::vector<float> back = decoded(encoded_weights(weights, floor));
    ASSERT_EQ(back.size(), weights.size());
    for (size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(back[i], weights[i], 1.0f / 255);
  }
}

TEST(WeightEncoding, PreservesSmallWeights) {
  const std::vector<float> uniform(512, 1.0f / 512);
  for (const float weight : decoded(encoded_weights(uniform, 1)))
    EXPECT_NEAR(weight, 1.0f / 512, 0.06f / 512);
}

TEST(WeightEncoding, PreservesRunsOfZerosOfAnyLength) {
  for (const size_t zeros : {1u, 127u, 128u, 16383u, 16384u, 300000u}) {
    std::vector<float> weights(zeros, 0.0f);
    weights.push_back(1.0f);
    const std::string bytes = encoded_weights(weights, 1);
    EXPECT_LE(bytes.size(), 5u);
    EXPECT_EQ(decoded(bytes), weights) << zeros;
    weights.pop_back();
    EXPECT_EQ(decoded(encoded_weights(weights, 1)), weights) << zeros;
  }
}

TEST(WeightEncoding, ClampsInvalidWeightsToZeroOrOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> weights = {nan, -0.5f, -inf, inf, 1.5f};
  EXPECT_EQ(decoded(encoded_weights(weights, 1)), (std::vector<float>{0, 0, 0, 0, 1}));
}

TEST(WeightEncoding, SizesEstimateThePackedSizeAtEachFloor) {
  std::vector<float> weights;
  const CounterRandom random(2);
  for (uint64_t i = 0; i < 30000; ++i)
    weights.push_back(i % 700 < 300 ? 0.0f : static_cast<float>(std::pow(random.uniform(i), 9)));
  WeightEncoder encoder(1);
  encoder.add(weights);
  const auto sizes = encoder.sizes();
  for (int floor = 1; floor <= kMaxFloor; ++floor) {
    const auto size = static_cast<double>(encoded_weights(weights, floor).size());
    EXPECT_GE(static_cast<double>(sizes[static_cast<size_t>(floor)]), size) << floor;
    EXPECT_LE(static_cast<double>(sizes[static_cast<size_t>(floor)]), 1.01 * size + 1) << floor;
  }
}

TEST(WeightEncoding, RaisingTheFloorEqualsStartingWithIt) {
  std::vector<float> weights;
  const CounterRandom random(3);
  for (uint64_t i = 0; i < 5000; ++i)
    weights.push_back(i % 900 < 700 ? 0.0f : static_cast<float>(std::pow(random.uniform(i), 6)));
  const std::span<const float> all(weights);
  for (const int floor : {2, 9, kMaxFloor})
    for (const size_t raised_at : {0u, 1u, 800u, 2500u, 5000u}) {
      WeightEncoder encoder(1);
      encoder.add(all.first(raised_at / 2));
      encoder.add(all.first(raised_at).subspan(raised_at / 2));
      encoder.raise_floor(floor);
      encoder.add(all.subspan(raised_at));
      WeightEncoder other(floor);
      other.add(all);
      EXPECT_EQ(encoder.sizes(), other.sizes());
      EXPECT_EQ(encoder.take(), other.take()) << floor << " at " << raised_at;
    }
}

TEST(WeightEncoding, NoWeightsTakeNoBytes) { EXPECT_EQ(encoded_weights({}, 1), ""); }

}  // namespace
}  // namespace heed::inspect
