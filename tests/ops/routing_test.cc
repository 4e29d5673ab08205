#include "heed/ops/routing.h"

#include <gtest/gtest.h>

#include <cstring>

#include "heed/ops/activation.h"
#include "heed/ops/linear.h"
#include "heed/ops/softmax.h"
#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using testing::check_op;
using testing::input;
using testing::parameter;
using testing::random_tensor;

std::vector<int32_t> values(std::span<const int32_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

Tensor probabilities(const Tensor& logits) {
  Context context;
  return ops::softmax(context, logits);
}

TEST(Routing, SelectsTheLargestAndBreaksTiesByIndex) {
  Context context;
  const Tensor p = Tensor::of({3, 4}, std::vector<float>{0.1f, 0.5f, 0.3f, 0.1f,      //
                                                         0.25f, 0.25f, 0.25f, 0.25f,  //
                                                         0.0f, 0.2f, 0.2f, 0.6f});
  const ops::Routing routing = ops::route(context, p, {.top_k = 2});
  EXPECT_EQ(values(routing.experts()), (std::vector<int32_t>{1, 2, 0, 1, 1, 3}));
  EXPECT_EQ(values(routing.rows(0)), (std::vector<int32_t>{1}));
  EXPECT_EQ(values(routing.rows(1)), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(values(routing.rows(2)), (std::vector<int32_t>{0}));
  EXPECT_EQ(values(routing.rows(3)), (std::vector<int32_t>{2}));
  EXPECT_EQ(values(routing.places()), (std::vector<int32_t>{0, 0, 0, 1, 2, 0}));
  EXPECT_FLOAT_EQ(routing.weights().data<float>()[0], 0.5f);
  EXPECT_FLOAT_EQ(routing.weights().data<float>()[1], 0.3f);
}

TEST(Routing, WeightsAreScaledAndNormalisedOnRequest) {
  Context context;
  const Tensor p = Tensor::of({1, 4}, std::vector<float>{0.1f, 0.5f, 0.3f, 0.1f});
  const auto weights = [&](bool normalized, float scale) {
    const Tensor w =
        ops::route(context, p, {.top_k = 2, .normalize = normalized, .scale = scale}).weights();
    return std::pair{w.data<float>()[0], w.data<float>()[1]};
  };
  EXPECT_FLOAT_EQ(weights(false, 16.0f).first, 8.0f);
  EXPECT_FLOAT_EQ(weights(true, 1.0f).first, 0.625f);
  EXPECT_FLOAT_EQ(weights(true, 2.0f).second, 0.75f);
}

TEST(Routing, GroupsLimitTheSelection) {
  Context context;
  // The second largest is in a group whose best is only the third.
  const Tensor p = Tensor::of({1, 6}, std::vector<float>{0.3f, 0.01f, 0.05f, 0.29f, 0.28f, 0.07f});
  const auto chosen = [&](int64_t groups, int64_t chosen_groups, int64_t count) {
    return values(
        ops::route(context, p, {.top_k = count, .n_group = groups, .topk_group = chosen_groups})
            .experts());
  };
  EXPECT_EQ(chosen(1, 1, 2), (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(chosen(3, 1, 2), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(chosen(3, 2, 3), (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(chosen(2, 1, 3), (std::vector<int32_t>{0, 1, 2}));
}

TEST(Routing, GroupsAreRankedByTheSumOfTheirBestOnRequest) {
  Context context;
  const Tensor p = Tensor::of({1, 6}, std::vector<float>{0.6f, 0.01f, 0.05f, 0.4f, 0.3f, 0.07f});
  const auto chosen = [&](int64_t best) {
    return values(
        ops::route(context, p, {.top_k = 2, .n_group = 2, .topk_group = 1, .best_of_group = best})
            .experts());
  };
  EXPECT_EQ(chosen(1), (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(chosen(2), (std::vector<int32_t>{3, 4}));
  EXPECT_EQ(chosen(9), (std::vector<int32_t>{3, 4}));  // all three
}

TEST(Routing, ABiasChangesTheSelectionButNotTheWeights) {
  Context context;
  const Tensor p = Tensor::of({1, 4}, std::vector<float>{0.1f, 0.5f, 0.3f, 0.2f});
  const Tensor bias = Tensor::of({4}, std::vector<float>{0.6f, 0.0f, -0.3f, 0.0f});
  const ops::Routing routing = ops::route(context, p, {.top_k = 2}, bias);
  EXPECT_EQ(values(routing.experts()), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(routing.weights().data<float>()[0], 0.1f);
  EXPECT_EQ(routing.weights().data<float>()[1], 0.5f);
  EXPECT_THROW(ops::route(context, p, {.top_k = 2}, Tensor::zeros({3})), Error);
}

TEST(Routing, SigmoidIsThatOfEachScoreAndItsGradientMatchesFiniteDifferences) {
  Context context;
  const Tensor x = Tensor::of({1, 4}, std::vector<float>{0.0f, 1.0f, -200.0f, 200.0f});
  const Tensor y = ops::sigmoid(context, x);
  EXPECT_EQ(y.data<float>()[0], 0.5f);
  EXPECT_FLOAT_EQ(y.data<float>()[1], 0.73105858f);
  EXPECT_EQ(y.data<float>()[2], 0.0f);
  EXPECT_EQ(y.data<float>()[3], 1.0f);
  const Tensor scores = random_tensor({3, 5}, 1);
  check_op([&](Context& c) { return ops::sigmoid(c, scores); }, {input("scores", scores)});
}

TEST(Routing, RefusesToSelectMoreExpertsThanExist) {
  Context context;
  const Tensor p = Tensor::full({2, 6}, 1.0f / 6.0f);
  EXPECT_THROW(ops::route(context, p, {.top_k = 0}), Error);
  EXPECT_THROW(ops::route(context, p, {.top_k = 7}), Error);
  EXPECT_THROW(ops::route(context, p, {.top_k = 1, .n_group = 4}), Error);
  EXPECT_THROW(ops::route(context, p, {.top_k = 1, .n_group = 3, .topk_group = 4}), Error);
  EXPECT_THROW(ops::route(context, p, {.top_k = 3, .n_group = 3, .topk_group = 1}), Error);
  EXPECT_THROW(ops::route(context, Tensor::zeros({2, 6}, DType::bf16), {.top_k = 1}), Error);
}

TEST(Routing, NaNSelectsValidExperts) {
  Context context;
  const Tensor p = Tensor::full({2, 6}, std::nanf(""));
  EXPECT_EQ(values(ops::route(context, p, {.top_k = 2}).experts()),
            (std::vector<int32_t>{0, 1, 0, 1}));
}

TEST(GatherRows, GradientMatchesFiniteDifferencesWhereRowsRepeat) {
  const Tensor x = random_tensor({5, 3}, 1);
  const std::vector<int32_t> rows{4, 0, 0, 2};
  check_op([&](Context& c) { return ops::gather_rows(c, x, rows); }, {input("x", x)});
  Context context;
  EXPECT_THROW(ops::gather_rows(context, x, std::vector<int32_t>{5}), Error);
  EXPECT_THROW(ops::gather_rows(context, x, std::vector<int32_t>{-1}), Error);
}

/// A mixture of linear experts.
struct Experts {
  explicit Experts(int64_t count, int64_t width) : weights(static_cast<size_t>(count)) {
    for (size_t e = 0; e < weights.size(); ++e) {
      weights[e].name = "expert " + std::to_string(e);
      weights[e].shape = {width, width};
      weights[e].value = random_tensor({width, width}, 50 + e);
    }
  }

  Tensor forward(Context& context, const Tensor& x, const ops::Routing& routing) {
    std::vector<Tensor> outputs(weights.size());
    for (size_t e = 0; e < weights.size(); ++e) {
      const auto rows = routing.rows(static_cast<int64_t>(e));
      if (rows.empty()) continue;
      outputs[e] = ops::linear(context, ops::gather_rows(context, x, rows), weights[e], none);
    }
    return ops::combine(context, routing, outputs);
  }

  std::vector<Parameter> weights;
  Parameter none;
};

TEST(MixtureOfExperts, GradientsReachRowsExpertsAndRouter) {
  const ops::RoutingOptions kinds[] = {
      {.top_k = 2, .scale = 3.0f},
      {.top_k = 3, .normalize = true, .scale = 2.0f},
      {.top_k = 2, .n_group = 3, .topk_group = 2},
  };
  const Tensor x = random_tensor({7, 4}, 1), logits = random_tensor({7, 6}, 2);
  for (const ops::RoutingOptions& options : kinds) {
    Experts experts(6, 4);
    std::vector<testing::Checked> checked{input("x", x), input("logits", logits)};
    for (const Parameter& weight : experts.weights) checked.push_back(parameter(weight));
    check_op(
        [&](Context& c) {
          return experts.forward(c, x, ops::route(c, ops::softmax(c, logits), options));
        },
        checked, 1e-3, 0.002);
  }
}

TEST(MixtureOfExperts, ARowDoesNotDependOnTheOthers) {
  Context context;
  const Tensor x = random_tensor({20, 8}, 1), p = probabilities(random_tensor({20, 6}, 2));
  Experts experts(6, 8);
  const ops::RoutingOptions options{.top_k = 3};
  const Tensor all = experts.forward(context, x, ops::route(context, p, options));
  for (int64_t n = 0; n < 20; ++n) {
    const Tensor one = experts.forward(context, x.row_slice(n, n + 1),
                                       ops::route(context, p.row_slice(n, n + 1), options));
    EXPECT_EQ(std::memcmp(one.raw(), all.row_slice(n, n + 1).raw(), 8 * sizeof(float)), 0);
  }
}

TEST(MixtureOfExperts, RefusesOutputsThatDoNotFit) {
  Context context;
  const ops::Routing routing =
      ops::route(context, probabilities(random_tensor({4, 3}, 1)), {.top_k = 1});
  EXPECT_THROW(ops::combine(context, routing, {}), Error);
  EXPECT_THROW(ops::combine(context, routing, std::vector<Tensor>(3)), Error);
  std::vector<Tensor> outputs;
  for (int64_t e = 0; e < 3; ++e)
    outputs.push_back(Tensor::zeros({static_cast<int64_t>(routing.rows(e).size()) + 1, 2}));
  EXPECT_THROW(ops::combine(context, routing, outputs), Error);
}

}  // namespace
}  // namespace heed
