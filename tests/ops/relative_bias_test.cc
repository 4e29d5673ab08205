#include "heed/ops/relative_bias.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/kernels/quantize.h"
#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using ops::RelativeBuckets;
using testing::check_op;
using testing::parameter;
using testing::random_tensor;

Parameter table_of(int64_t buckets, int64_t heads) {
  Parameter table;
  table.name = "relative_attention_bias.weight";
  table.shape = {buckets, heads};
  table.value = random_tensor(table.shape, 1);
  return table;
}

TEST(RelativeBias, NearDistancesHaveBucketsOfTheirOwn) {
  const RelativeBuckets causal{32, 128, false}, both{32, 128, true};
  for (int64_t d = 0; d < 16; ++d) EXPECT_EQ(causal.bucket(-d), d);
  for (int64_t d = 1; d < 8; ++d) {
    EXPECT_EQ(both.bucket(-d), d);
    EXPECT_EQ(both.bucket(d), 16 + d);
  }
}

TEST(RelativeBias, FarDistancesShareTheLastBucket) {
  const RelativeBuckets causal{32, 128, false}, both{32, 128, true};
  for (const int64_t d : {128, 129, 1000, 1000000}) {
    EXPECT_EQ(causal.bucket(-d), 31);
    EXPECT_EQ(causal.bucket(d), 0);
    EXPECT_EQ(both.bucket(-d), 15);
    EXPECT_EQ(both.bucket(d), 31);
  }
}

TEST(RelativeBias, BucketsAreThoseOfTransformers) {
  const std::filesystem::path file =
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/relative_bias/expected.json";
  for (const auto& recorded : parse_json(read_file(file), file.string())) {
    const RelativeBuckets buckets{recorded.at("buckets"), recorded.at("max_distance"),
                                  recorded.at("bidirectional")};
    const int64_t limit = recorded.at("limit");
    for (int64_t d = -limit; d <= limit; ++d)
      EXPECT_EQ(buckets.bucket(d), recorded.at("expected")[static_cast<size_t>(d + limit)])
          << "distance " << d << " of " << buckets.max_distance;
  }
}

TEST(RelativeBias, BucketsGrowWithTheDistance) {
  for (const RelativeBuckets& buckets :
       {RelativeBuckets{32, 128, true}, {32, 128, false}, {8, 20, true}, {6, 7, false}})
    for (int64_t d = 1; d < 300; ++d) {
      EXPECT_GE(buckets.bucket(-d), buckets.bucket(1 - d));
      EXPECT_LT(buckets.bucket(-d), buckets.buckets);
      EXPECT_LT(buckets.bucket(d), buckets.buckets);
    }
}

TEST(RelativeBias, EveryColumnIsTheRowOfItsBucket) {
  Context context;
  Parameter table = table_of(8, 3);
  const RelativeBuckets buckets{8, 20, true};
  const Tensor bias = ops::relative_bias(context, table, buckets, 30);
  ASSERT_EQ(bias.shape(), (Shape{3, 59}));
  for (int64_t h = 0; h < 3; ++h)
    for (int64_t c = 0; c < 59; ++c)
      EXPECT_EQ(bias.data<float>()[h * 59 + c],
                table.value.data<float>()[buckets.bucket(c - 29) * 3 + h]);
}

TEST(RelativeBias, ReadsTablesOfAnyStoredType) {
  Context context;
  Parameter table = table_of(8, 3), stored = table;
  table.value = Tensor::full({8, 3}, 0.5f);
  stored.value = Tensor::empty({8, 3}, DType::f16);
  kernels::quantize(table.value, stored.value);
  const Tensor bias = ops::relative_bias(context, stored, {8, 20, true}, 4);
  for (const float number : bias.values<float>()) EXPECT_EQ(number, 0.5f);
  Tape tape;
  Context training{.tape = &tape};
  EXPECT_THROW(ops::relative_bias(training, stored, {8, 20, true}, 4), Error);
}

TEST(RelativeBias, GradientMatchesFiniteDifferences) {
  for (const bool bidirectional : {false, true}) {
    Parameter table = table_of(8, 3);
    check_op(
        [&](Context& c) {
          return ops::relative_bias(c, table, {8, 20, bidirectional}, 25);
        },
        {parameter(table)});
  }
}

TEST(RelativeBias, RefusesImpossibleBuckets) {
  Context context;
  Parameter table = table_of(8, 3);
  EXPECT_THROW(ops::relative_bias(context, table, {6, 20, false}, 5), Error);
  EXPECT_THROW(ops::relative_bias(context, table, {8, 4, false}, 5), Error);
  EXPECT_THROW(ops::relative_bias(context, table, {8, 20, false}, 0), Error);
  Parameter tiny = table_of(3, 3);
  EXPECT_THROW(ops::relative_bias(context, tiny, {3, 20, true}, 5), Error);
}

}  // namespace
}  // namespace heed
