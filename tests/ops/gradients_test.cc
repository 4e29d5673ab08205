// Every op against finite differences; one list of cases.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "heed/ops/activation.h"
#include "heed/ops/attention.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/dropout.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/norm.h"
#include "heed/ops/softmax.h"
#include "heed/ops/splade.h"
#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using testing::check_gradients;
using testing::check_op;
using testing::input;
using testing::parameter;
using testing::random_tensor;

Parameter make_parameter(const std::string& name, const Shape& shape, uint64_t seed) {
  Parameter p;
  p.name = name;
  p.shape = shape;
  p.value = random_tensor(shape, seed);
  return p;
}

TEST(Gradients, Linear) {
  const Tensor x = random_tensor({7, 5}, 1);
  Parameter weight = make_parameter("weight", {6, 5}, 2), bias = make_parameter("bias", {6}, 3);
  check_op([&](Context& c) { return ops::linear(c, x, weight, bias); },
           {input("x", x), parameter(weight), parameter(bias)});
}

TEST(Gradients, ATensorThatSeveralOpsReadCollectsAllGradients) {
  const Tensor x = random_tensor({4, 5}, 1);
  Parameter a = make_parameter("a", {5, 5}, 2), b = make_parameter("b", {5, 5}, 3), none;
  check_op(
      [&](Context& c) {
        const Tensor y = ops::linear(c, x, a, none);
        const Tensor z = ops::linear(c, x, b, none);
        return ops::dropout_add(c, ops::dropout_add(c, y, z, 0.0f), x, 0.0f);
      },
      {input("x", x), parameter(a), parameter(b)});
}

TEST(Gradients, Embedding) {
  Parameter table = make_parameter("table", {9, 4}, 1),
            positions = make_parameter("pos", {5, 4}, 2);
  const std::vector<int32_t> tokens{3, 3, 0, 8, 3}, places{0, 1, 2, 3, 4};
  check_op(
      [&](Context& c) {
        return ops::embedding(c, {tokens, places}, table, 2.0f, {{}, &positions});
      },
      {parameter(table), parameter(positions)});
}

TEST(Gradients, LayerNorm) {
  const Tensor x = random_tensor({6, 10}, 1);
  Parameter weight = make_parameter("weight", {10}, 2), bias = make_parameter("bias", {10}, 3);
  check_op([&](Context& c) { return ops::layer_norm(c, x, weight, bias, 1e-5f); },
           {input("x", x), parameter(weight), parameter(bias)});
}

TEST(Gradients, RmsNorm) {
  const Tensor x = random_tensor({6, 10}, 1);
  Parameter weight = make_parameter("weight", {10}, 2);
  check_op([&](Context& c) { return ops::rms_norm(c, x, weight, 1e-6f); },
           {input("x", x), parameter(weight)});
}

TEST(Gradients, Activations) {
  using ops::Activation;
  const Tensor x = random_tensor({5, 9}, 1, 0.05f), up = random_tensor({5, 9}, 2);
  for (const Activation f : {Activation::relu, Activation::gelu, Activation::gelu_tanh,
                             Activation::silu, Activation::tanh, Activation::clamped_swiglu}) {
    SCOPED_TRACE(name_of(f));
    check_op([&](Context& c) { return ops::activation(c, f, x); }, {input("x", x)});
    check_op([&](Context& c) { return ops::gated(c, f, x, up); },
             {input("gate", x), input("up", up)});
  }
}

TEST(Gradients, Dropout) {
  const Tensor x = random_tensor({8, 9}, 1), residual = random_tensor({8, 9}, 2);
  check_op([&](Context& c) { return ops::dropout(c, x, 0.4f); }, {input("x", x)});
  check_op([&](Context& c) { return ops::dropout_add(c, x, residual, 0.4f); },
           {input("x", x), input("residual", residual)});
}

TEST(Gradients, Softmax) {
  const Tensor x = random_tensor({4, 7}, 1);
  check_op([&](Context& c) { return ops::softmax(c, x); }, {input("x", x)});
}

struct AttentionCase {
  const char* name;
  int64_t heads, kv_heads, head_dim, v_head_dim;
  bool causal;
  float dropout;
};

TEST(Gradients, Attention) {
  const AttentionCase cases[] = {{"one head", 1, 1, 3, 3, false, 0},
                                 {"masked, d_v other than d_k", 2, 2, 4, 5, true, 0},
                                 {"grouped", 4, 2, 3, 4, true, 0},
                                 {"multi-query with dropout", 4, 1, 4, 4, true, 0.3f}};
  const std::vector<int32_t> offsets{0, 4, 5, 11};
  for (const AttentionCase& a : cases) {
    SCOPED_TRACE(a.name);
    const Tensor q = random_tensor({11, a.heads * a.head_dim}, 1);
    const Tensor k = random_tensor({11, a.kv_heads * a.head_dim}, 2);
    const Tensor v = random_tensor({11, a.kv_heads * a.v_head_dim}, 3);
    const auto spans =
        std::make_shared<kernels::AttentionMetadata>(kernels::AttentionMetadata::self(offsets));
    check_op(
        [&](Context& c) {
          return ops::attention(c, {.q = q,
                                    .k = k,
                                    .v = v,
                                    .spans = spans,
                                    .options = {.n_heads = a.heads,
                                                .n_kv_heads = a.kv_heads,
                                                .scale = 0.5f,
                                                .causal = a.causal,
                                                .dropout = a.dropout}});
        },
        {input("q", q), input("k", k), input("v", v)});
  }
}

TEST(Gradients, AttentionWithWindowCapAndRelativeBias) {
  const Tensor q = random_tensor({9, 8}, 1), k = random_tensor({9, 4}, 2),
               v = random_tensor({9, 6}, 3), bias = random_tensor({4, 5}, 4);
  const auto spans =
      std::make_shared<kernels::AttentionMetadata>(kernels::AttentionMetadata::self({0, 7, 9}));
  for (const auto& [causal, window] : {std::pair{true, int64_t{0}}, {true, 3}, {false, 3}}) {
    SCOPED_TRACE(window);
    check_op(
        [&, causal = causal, window = window](Context& c) {
          return ops::attention(c, {.q = q,
                                    .k = k,
                                    .v = v,
                                    .relative_bias = bias,
                                    .spans = spans,
                                    .options = {.n_heads = 4,
                                                .n_kv_heads = 2,
                                                .scale = 0.7f,
                                                .causal = causal,
                                                .window = window,
                                                .soft_cap = 1.5f}});
        },
        {input("q", q), input("k", k), input("v", v), input("relative_bias", bias)});
  }
}

TEST(Gradients, AttentionSinks) {
  const std::vector<int32_t> offsets{0, 3, 7};
  const Tensor q = random_tensor({7, 8}, 1), k = random_tensor({7, 4}, 2),
               v = random_tensor({7, 4}, 3);
  Parameter sinks = make_parameter("sinks", {4}, 5);
  const auto spans =
      std::make_shared<kernels::AttentionMetadata>(kernels::AttentionMetadata::self(offsets));
  for (const int64_t window : {0, 2})
    check_op(
        [&](Context& c) {
          return ops::attention(
              c, {.q = q,
                  .k = k,
                  .v = v,
                  .sinks = &sinks,
                  .spans = spans,
                  .options = {.n_heads = 4, .n_kv_heads = 2, .causal = true, .window = window}});
        },
        {input("q", q), input("k", k), input("v", v), parameter(sinks)});
}

TEST(Gradients, CrossAttention) {
  const std::vector<int32_t> queries{0, 2, 6}, keys{0, 5, 8};
  const Tensor q = random_tensor({6, 4}, 1), k = random_tensor({8, 4}, 2),
               v = random_tensor({8, 4}, 3);
  const auto spans = std::make_shared<kernels::AttentionMetadata>(
      kernels::AttentionMetadata::cross(queries, keys));
  check_op(
      [&](Context& c) {
        return ops::attention(c, {.q = q,
                                  .k = k,
                                  .v = v,
                                  .spans = spans,
                                  .options = {.n_heads = 2, .n_kv_heads = 2, .scale = 0.7f}});
      },
      {input("q", q), input("k", k), input("v", v)});
}

TEST(Gradients, CrossEntropyWithProjectionAndSmoothing) {
  const Tensor x = random_tensor({9, 6}, 1);
  const std::vector<int32_t> targets{0, 1, 2, 3, 10, 5, 5, 7, 0};
  for (const float soft_cap : {0.0f, 3.0f}) {
    SCOPED_TRACE(soft_cap);
    Parameter weight = make_parameter("weight", {11, 6}, 2), bias = make_parameter("bias", {11}, 3);
    check_gradients(
        [&](Context& c) {
          const ops::Loss loss = ops::cross_entropy(
              c, x, weight, bias, targets,
              {.label_smoothing = 0.1f, .gradient_scale = 1, .soft_cap = soft_cap});
          c.tape->backward();
          return loss.smoothed;
        },
        {input("x", x), parameter(weight), parameter(bias)});
  }
}

TEST(Gradients, SpladeOfTexts) {
  const Tensor x = random_tensor({9, 6}, 1), weights = random_tensor({3, 11}, 5);
  Parameter weight = make_parameter("weight", {11, 6}, 2), bias = make_parameter("bias", {11}, 3);
  check_gradients(
      [&](Context& c) {
        const Tensor y = ops::splade(c, x, weight, bias, {0, 2, 3, 9});
        double loss = 0;
        for (int64_t i = 0; i < y.elements(); ++i)
          loss += static_cast<double>(y.data<float>()[i]) *
                  static_cast<double>(weights.data<float>()[i]);
        c.tape->add(y, weights.clone());
        c.tape->backward();
        return loss;
      },
      {input("x", x), parameter(weight), parameter(bias)}, 1e-3, 1e-3);
}

}  // namespace
}  // namespace heed
