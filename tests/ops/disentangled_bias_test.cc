#include "heed/ops/disentangled_bias.h"

#include "heed/base/error.h"
#include "heed/ops/attention.h"
#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using namespace testing;

std::shared_ptr<const std::vector<int32_t>> shared_list(std::vector<int32_t> values) {
  return std::make_shared<const std::vector<int32_t>>(std::move(values));
}

/// What transformers 5.24 (make_log_bucket_position) gives for 8 buckets up to a distance of 16,
/// plus 8.
TEST(DistanceRows, AreThoseOfTheReference) {
  const ops::DistanceRows rows{8, 16};
  const std::vector<int64_t> expected{8, 9, 10, 11, 12, 13, 13, 14, 14, 14, 15, 15, 15, 15, 15, 15};
  for (int64_t d = 0; d < std::ssize(expected); ++d) {
    EXPECT_EQ(rows.row(d), std::min<int64_t>(expected[static_cast<size_t>(d)], 15)) << d;
    if (d > 0) {
      EXPECT_EQ(rows.row(-d), 16 - expected[static_cast<size_t>(d)]) << d;
    }
  }
}

TEST(DistanceRows, DoNotDecreaseAndStayInTheTable) {
  for (const ops::DistanceRows& rows :
       {ops::DistanceRows{256, 512}, ops::DistanceRows{0, 40}, ops::DistanceRows{4, 5}}) {
    for (int64_t d = -700; d < 700; ++d) {
      EXPECT_LE(rows.row(d), rows.row(d + 1));
      EXPECT_GE(rows.row(d), 0);
      EXPECT_LT(rows.row(d), rows.count());
    }
    for (int64_t d = 0; d < 2; ++d) EXPECT_EQ(rows.row(d + 1), rows.row(d) + 1);
  }
}

TEST(DisentangledAttention, GradientMatchesFiniteDifferences) {
  const Tensor q = random_tensor({7, 6}, 1), k = random_tensor({7, 6}, 2),
               v = random_tensor({7, 4}, 3), keys = random_tensor({5, 6}, 4),
               queries = random_tensor({5, 6}, 5);
  const auto offsets = shared_list({0, 4, 7});
  const auto rows = shared_list({0, 0, 1, 2, 3, 4, 4});
  const auto spans =
      std::make_shared<kernels::AttentionMetadata>(kernels::AttentionMetadata::self(*offsets));
  check_op(
      [&](Context& c) {
        const Tensor bias = ops::disentangled_bias(c, {.q = q,
                                                       .k = k,
                                                       .position_keys = keys,
                                                       .position_queries = queries,
                                                       .offsets = offsets,
                                                       .rows = rows,
                                                       .n_heads = 2,
                                                       .scale = 0.4f});
        return ops::attention(c, {.q = q,
                                  .k = k,
                                  .v = v,
                                  .pair_bias = bias,
                                  .spans = spans,
                                  .options = {.n_heads = 2, .n_kv_heads = 2, .scale = 0.4f}});
      },
      {input("q", q), input("k", k), input("v", v), input("position_keys", keys),
       input("position_queries", queries)});
}

TEST(DisentangledAttention, RefusesWhatDoesNotFit) {
  const Tensor q = random_tensor({3, 6}, 1), k = random_tensor({3, 6}, 2),
               table = random_tensor({5, 6}, 3), narrow = random_tensor({5, 4}, 4), none;
  Context context;
  const auto run = [&](const Tensor& keys, std::vector<int32_t> rows, std::vector<int32_t> offsets,
                       int64_t heads) {
    return ops::disentangled_bias(context, {.q = q,
                                            .k = k,
                                            .position_keys = keys,
                                            .position_queries = none,
                                            .offsets = shared_list(std::move(offsets)),
                                            .rows = shared_list(std::move(rows)),
                                            .n_heads = heads});
  };
  EXPECT_EQ(run(table, {0, 1, 2, 3, 4}, {0, 3}, 2).shape(), (Shape{2, 9}));
  EXPECT_THROW(run(narrow, {0, 1, 2, 3, 4}, {0, 3}, 2), Error);
  EXPECT_THROW(run(table, {0, 1, 2, 3, 5}, {0, 3}, 2), Error);
  EXPECT_THROW(run(table, {0, 2, 1, 3, 4}, {0, 3}, 2), Error);
  EXPECT_THROW(run(table, {1, 2, 3}, {0, 3}, 2), Error);
  EXPECT_THROW(run(table, {0, 1, 2, 3, 4}, {0, 2}, 2), Error);
  EXPECT_THROW(run(table, {0, 1, 2, 3, 4}, {0, 3}, 4), Error);
}

}  // namespace
}  // namespace heed
