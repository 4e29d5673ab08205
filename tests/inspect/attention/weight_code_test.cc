#include "heed/inspect/attention/weight_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/random.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

std::string packed_weights(std::span<const float> weights, int floor) {
  WeightPacker packer(floor);
  packer.add(weights);
  return packer.take();
}

TEST(WeightCode, DecodedWeightsAreWithinOne255thAtEveryFloor) {
  std::vector<float> weights = {0.0f, 1.0f, 1.0f / 255, 1.0f / 512, 1e-9f};
  const CounterRandom random(1);
  for (uint64_t i = 0; i < 20000; ++i)
    weights.push_back(static_cast<float>(std::pow(random.uniform(i), 8)));
  for (const int floor : {1, 4, 8, 12, kMaxFloor}) {
    const std::vector<float> back = unpacked(packed_weights(weights, floor));
    ASSERT_EQ(back.size(), weights.size());
    for (size_t i = 0; i < weights.size(); ++i) EXPECT_NEAR(back[i], weights[i], 1.0f / 255);
  }
}

TEST(WeightCode, PreservesSmallWeights) {
  const std::vector<float> uniform(512, 1.0f / 512);
  for (const float weight : unpacked(packed_weights(uniform, 1)))
    EXPECT_NEAR(weight, 1.0f / 512, 0.06f / 512);
}

TEST(WeightCode, PreservesRunsOfZerosOfAnyLength) {
  for (const size_t zeros : {1u, 127u, 128u, 16383u, 16384u, 300000u}) {
    std::vector<float> weights(zeros, 0.0f);
    weights.push_back(1.0f);
    const std::string bytes = packed_weights(weights, 1);
    EXPECT_LE(bytes.size(), 5u);
    EXPECT_EQ(unpacked(bytes), weights) << zeros;
    weights.pop_back();
    EXPECT_EQ(unpacked(packed_weights(weights, 1)), weights) << zeros;
  }
}

TEST(WeightCode, ClampsInvalidWeightsToZeroOrOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> weights = {nan, -0.5f, -inf, inf, 1.5f};
  EXPECT_EQ(unpacked(packed_weights(weights, 1)), (std::vector<float>{0, 0, 0, 0, 1}));
}

TEST(WeightCode, SizesEstimateThePackedSizeAtEachFloor) {
  std::vector<float> weights;
  const CounterRandom random(2);
  for (uint64_t i = 0; i < 30000; ++i)
    weights.push_back(i % 700 < 300 ? 0.0f : static_cast<float>(std::pow(random.uniform(i), 9)));
  WeightPacker packer(1);
  packer.add(weights);
  const auto sizes = packer.sizes();
  for (int floor = 1; floor <= kMaxFloor; ++floor) {
    const auto size = static_cast<double>(packed_weights(weights, floor).size());
    EXPECT_GE(static_cast<double>(sizes[static_cast<size_t>(floor)]), size) << floor;
    EXPECT_LE(static_cast<double>(sizes[static_cast<size_t>(floor)]), 1.01 * size + 1) << floor;
  }
}

TEST(WeightCode, RaisingTheFloorEqualsStartingWithIt) {
  std::vector<float> weights;
  const CounterRandom random(3);
  for (uint64_t i = 0; i < 5000; ++i)
    weights.push_back(i % 900 < 700 ? 0.0f : static_cast<float>(std::pow(random.uniform(i), 6)));
  const std::span<const float> all(weights);
  for (const int floor : {2, 9, kMaxFloor})
    for (const size_t raised_at : {0u, 1u, 800u, 2500u, 5000u}) {
      WeightPacker packer(1);
      packer.add(all.first(raised_at / 2));
      packer.add(all.first(raised_at).subspan(raised_at / 2));
      packer.raise_floor(floor);
      packer.add(all.subspan(raised_at));
      WeightPacker other(floor);
      other.add(all);
      EXPECT_EQ(packer.sizes(), other.sizes());
      EXPECT_EQ(packer.take(), other.take()) << floor << " at " << raised_at;
    }
}

TEST(WeightCode, NoWeightsTakeNoBytes) { EXPECT_EQ(packed_weights({}, 1), ""); }

}  // namespace
}  // namespace heed::inspect
