#include "heed/kernels/experts.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

/// Four tokens with two of three experts each; the middle one is not used.
struct Problem {
  Problem(int64_t cols, DType dtype)
      : outputs{normals({4, cols}, 1, dtype), Tensor(), normals({4, cols}, 2, dtype)},
        weights(normals({4, 2}, 3)),
        dy(normals({4, cols}, 4, dtype)),
        y(Tensor::empty(dy.shape(), dtype)),
        d_outputs{Tensor::empty(dy.shape(), dtype), Tensor(), Tensor::empty(dy.shape(), dtype)},
        d_weights(Tensor::empty({4, 2})) {}

  ExpertOutputs in() const { return {outputs, experts, rows, weights}; }

  std::vector<int32_t> experts{0, 2, 0, 2, 0, 2, 0, 2}, rows{3, 0, 2, 1, 1, 2, 0, 3};
  std::vector<Tensor> outputs;
  Tensor weights, dy, y;
  std::vector<Tensor> d_outputs;
  Tensor d_weights;
};

TEST(Experts, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const DType dtype : kFloating) {
        Problem fast(cols, dtype), plain(cols, dtype);
        cpu::combine_experts_forward(fast.in(), fast.y);
        reference::combine_experts_forward(plain.in(), plain.y);
        expect_close(fast.y, plain.y, target + " y");
        cpu::combine_experts_backward(fast.in(), fast.dy, {fast.d_outputs, fast.d_weights});
        reference::combine_experts_backward(plain.in(), plain.dy,
                                            {plain.d_outputs, plain.d_weights});
        expect_close(fast.d_weights, plain.d_weights, target + " d_weights", 10.0);
        for (const size_t e : {0, 2})
          expect_close(fast.d_outputs[e], plain.d_outputs[e], target + " d_outputs");
      }
  });
}

TEST(Experts, DoesNotDependOnTheNumberOfThreads) {
  expect_same_on_any_thread_count([] {
    Problem p(40000, DType::f32);
    combine_experts_forward(p.in(), p.y);
    combine_experts_backward(p.in(), p.dy, {p.d_outputs, p.d_weights});
    return std::vector<Tensor>{p.y, p.d_weights, p.d_outputs[0], p.d_outputs[2]};
  });
}

}  // namespace
}  // namespace heed::kernels
