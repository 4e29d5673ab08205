#include "heed/kernels/disentangled_bias.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

/// A problem with three heads, sequences of several lengths, and tables of `rows` rows.
struct DisentangledProblem {
  DisentangledProblem(DType dtype, const std::vector<int32_t>& lengths, int64_t d, int64_t shared)
      : n_heads(3) {
    int32_t longest = 1;
    for (const int32_t length : lengths) {
      offsets.push_back(offsets.back() + length);
      longest = std::max(longest, length);
    }
    // Far distances share a row.
    for (int32_t distance = 1 - longest; distance < longest; ++distance)
      rows.push_back(
          static_cast<int32_t>(std::clamp<int64_t>(distance + shared, 0, 2 * shared - 1)));
    const int64_t width = n_heads * d;
    q = normals({offsets.back(), width}, 1, dtype);
    k = normals({offsets.back(), width}, 2, dtype);
    position_keys = normals({2 * shared, width}, 3, dtype);
    position_queries = normals({2 * shared, width}, 4, dtype);
    d_bias = normals({n_heads, in().pairs()}, 5);
    bias = Tensor::empty(d_bias.shape());
    dq = Tensor::empty(q.shape(), dtype), dk = Tensor::empty(k.shape(), dtype);
    d_keys = Tensor::empty(position_keys.shape(), dtype);
    d_queries = Tensor::empty(position_queries.shape(), dtype);
  }

  DisentangledBias in() const {
    return {q, k, position_keys, position_queries, offsets, rows, n_heads, 0.3f};
  }
  DisentangledGradients gradients() { return {dq, dk, d_keys, d_queries}; }
  /// Without the term of one of the tables.
  void drop(bool keys) {
    (keys ? position_keys : position_queries) = (keys ? d_keys : d_queries) = Tensor();
  }

  int64_t n_heads;
  std::vector<int32_t> offsets{0}, rows;
  Tensor q, k, position_keys, position_queries, d_bias, bias, dq, dk, d_keys, d_queries;
};

TEST(DisentangledBias, CpuAgreesWithReferenceOnEveryTarget) {
  for (const DType dtype : kFloating)
    for (const int64_t d : {1, 5, 16, 33})
      for (const int64_t shared : {2, 9, 100}) {
        SCOPED_TRACE(fmt::format("{} {} {}", name_of(dtype), d, shared));
        const std::vector<int32_t> lengths{17, 1, 70, 0, 33};
        DisentangledProblem plain(dtype, lengths, d, shared);
        reference::disentangled_bias_forward(plain.in(), plain.bias);
        reference::disentangled_bias_backward(plain.in(), plain.d_bias, plain.gradients());
        on_every_target([&](const std::string& target) {
          DisentangledProblem fast(dtype, lengths, d, shared);
          cpu::disentangled_bias_forward(fast.in(), fast.bias);
          expect_close(fast.bias, plain.bias, target, 10.0);
          cpu::disentangled_bias_backward(fast.in(), fast.d_bias, fast.gradients());
          expect_close(fast.dq, plain.dq, target, 10.0);
          expect_close(fast.dk, plain.dk, target, 10.0);
          expect_close(fast.d_keys, plain.d_keys, target, 30.0);
          expect_close(fast.d_queries, plain.d_queries, target, 30.0);
        });
      }
}

TEST(DisentangledBias, OneOfTheTermsMayBeAbsent) {
  for (const bool keys : {false, true}) {
    DisentangledProblem plain(DType::f32, {9, 4}, 6, 5), fast(DType::f32, {9, 4}, 6, 5);
    for (DisentangledProblem* one : {&plain, &fast}) one->drop(keys);
    reference::disentangled_bias_forward(plain.in(), plain.bias);
    cpu::disentangled_bias_forward(fast.in(), fast.bias);
    expect_close(fast.bias, plain.bias, "bias", 10.0);
    reference::disentangled_bias_backward(plain.in(), plain.d_bias, plain.gradients());
    cpu::disentangled_bias_backward(fast.in(), fast.d_bias, fast.gradients());
    expect_close(fast.dq, plain.dq, "dq", 10.0);
    expect_close(fast.dk, plain.dk, "dk", 10.0);
  }
}

TEST(DisentangledBias, DoesNotDependOnTheNumberOfThreads) {
  expect_same_on_any_thread_count([&]() -> std::vector<Tensor> {
    DisentangledProblem problem(DType::f32, {40, 3, 25}, 8, 12);
    disentangled_bias_forward(problem.in(), problem.bias);
    disentangled_bias_backward(problem.in(), problem.d_bias, problem.gradients());
    return {problem.bias, problem.dq, problem.dk, problem.d_keys, problem.d_queries};
  });
}

TEST(DisentangledBias, ASequenceAloneHasTheSameBits) {
  DisentangledProblem all(DType::f32, {11, 20}, 8, 12), one(DType::f32, {11}, 8, 12);
  cpu::disentangled_bias_forward(all.in(), all.bias);
  one.rows = all.rows;
  one.q = all.q.row_slice(0, 11), one.k = all.k.row_slice(0, 11);
  cpu::disentangled_bias_forward(one.in(), one.bias);
  for (int64_t h = 0; h < 3; ++h)
    for (int64_t pair = 0; pair < 121; ++pair)
      ASSERT_EQ(one.bias.data<float>()[h * 121 + pair],
                all.bias.data<float>()[h * all.bias.cols() + pair]);
}

}  // namespace
}  // namespace heed::kernels
