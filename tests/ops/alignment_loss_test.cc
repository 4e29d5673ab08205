#include "heed/ops/alignment_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/kernels/elementwise.h"
#include "tests/base/testing.h"
#include "tests/base/threads.h"
#include "tests/ops/gradient_check.h"

namespace heed::ops {
namespace {

using testing::random_tensor;

constexpr int64_t kAlignedHeads = 4, kAlignedKvHeads = 2, kAlignedWidth = 6;

/// Two sentences of 3 and 4 queries, with 5 and 2 keys.
class AlignmentLoss : public ::testing::Test {
 protected:
  Tensor q_ = random_tensor({7, kAlignedHeads*kAlignedWidth}, 1),
         k_ = random_tensor({7, kAlignedKvHeads*kAlignedWidth}, 2);
  Tensor v_ = random_tensor({7, kAlignedKvHeads* kAlignedWidth}, 3);
  kernels::AttentionMetadata spans_ = kernels::AttentionMetadata::cross({0, 3, 7}, {0, 5, 7});
  kernels::AttentionOptions options_{
      .n_heads = kAlignedHeads, .n_kv_heads = kAlignedKvHeads, .scale = 0.4f};
  // Queries 1 and 5 are not aligned; query 2 is with two keys, one of them twice.
  AlignedKeys aligned_{{0, 1, 1, 4, 5, 6, 6, 7}, {4, 0, 3, 3, 6, 5, 5}};

  double loss(Context& context, int64_t head, float scale = 1) const {
    return alignment_loss(context, {q_, k_, v_, spans_, options_}, aligned_, head, scale);
  }
};

TEST_F(AlignmentLoss, IsTheCrossEntropyOfTheHeadsAttentionWeights) {
  for (int64_t head = 0; head < kAlignedHeads; ++head) {
    double expected = 0;
    for (int32_t query = 0; query < 7; ++query) {
      const int64_t sequence = query < 3 ? 0 : 1;
      const int32_t first = sequence == 0 ? 0 : 3, first_key = sequence == 0 ? 0 : 5;
      const Tensor weights = kernels::attention_weights(
          {q_, k_, v_, spans_, options_}, {sequence, query - first, query - first + 1});
      const auto begin = aligned_.offsets[static_cast<size_t>(query)];
      const auto end = aligned_.offsets[static_cast<size_t>(query) + 1];
      for (int32_t i = begin; i < end; ++i)
        expected -= std::log(static_cast<double>(
                        weights.data<float>()[head * weights.shape()[-1] +
                                              aligned_.keys[static_cast<size_t>(i)] - first_key])) /
                    (end - begin);
    }
    Context context;
    EXPECT_NEAR(loss(context, head), expected, 1e-5);
  }
}

TEST_F(AlignmentLoss, HasTheGradientsOfFiniteDifferences) {
  for (const int64_t head : {0, 3})
    testing::check_gradients(
        [&](Context& context) {
          const double value = loss(context, head, 0.5f);
          context.tape->backward();
          return 0.5 * value;
        },
        {testing::input("q", q_), testing::input("k", k_)});
}

TEST_F(AlignmentLoss, AddsToTheGradientsOfOtherSteps) {
  Tape alone, both;
  Context context{.tape = &alone};
  loss(context, 1);
  alone.backward();
  const Tensor own = alone.take(q_);
  context.tape = &both;
  loss(context, 1);
  both.record([&] { both.add(q_, Tensor::full(q_.shape(), 2)); });
  both.backward();
  const Tensor sum = both.take(q_);
  for (int64_t i = 0; i < own.elements(); ++i)
    EXPECT_EQ(sum.data<float>()[i], own.data<float>()[i] + 2);
}

TEST_F(AlignmentLoss, DoesNotDependOnTheNumberOfThreads) {
  Context context;
  const Threads one(1);
  const double expected = loss(context, 2);
  const Threads four(4);
  EXPECT_EQ(loss(context, 2), expected);
}

TEST_F(AlignmentLoss, HasTheValueOfF32InBf16) {
  Context context;
  const double expected = loss(context, 0);
  Tensor q = Tensor::empty(q_.shape(), DType::bf16), k = Tensor::empty(k_.shape(), DType::bf16);
  kernels::convert(q_, q);
  kernels::convert(k_, k);
  EXPECT_NEAR(alignment_loss(context, {q, k, v_, spans_, options_}, aligned_, 0, 1), expected,
              0.05 * expected);
}

TEST_F(AlignmentLoss, RefusesWhatItDoesNotCompute) {
  Context context;
  expect_error([&] { loss(context, kAlignedHeads); }, "head 4 is not one of 4");
  aligned_.keys[0] = 5;
  expect_error([&] { loss(context, 0); }, "key 5 is not one of the query's, 0 to 4");
  aligned_.offsets.pop_back();
  expect_error([&] { loss(context, 0); }, "there are alignments of 6 queries, expected 7");
  options_.causal = true;
  expect_error([&] { loss(context, 0); }, "expected cross-attention without mask");
}

}  // namespace
}  // namespace heed::ops
