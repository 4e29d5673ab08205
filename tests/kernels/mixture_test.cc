#include "heed/kernels/mixture.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

/// Four rows, two of three experts each; the middle one is not asked.
struct Problem {
  Problem(int64_t cols, DType dtype)
      : parts{normals({4, cols}, 1, dtype), Tensor(), normals({4, cols}, 2, dtype)},
        weights(normals({4, 2}, 3)),
        dy(normals({4, cols}, 4, dtype)),
        y(Tensor::empty(dy.shape(), dtype)),
        d_parts{Tensor::empty(dy.shape(), dtype), Tensor(), Tensor::empty(dy.shape(), dtype)},
        d_weights(Tensor::empty({4, 2})) {}

  MixtureParts in() const { return {parts, experts, places, weights}; }

  std::vector<int32_t> experts{0, 2, 0, 2, 0, 2, 0, 2}, places{3, 0, 2, 1, 1, 2, 0, 3};
  std::vector<Tensor> parts;
  Tensor weights, dy, y;
  std::vector<Tensor> d_parts;
  Tensor d_weights;
};

TEST(Mixture, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const DType dtype : kFloating) {
        Problem fast(cols, dtype), plain(cols, dtype);
        cpu::combine_forward(fast.in(), fast.y);
        reference::combine_forward(plain.in(), plain.y);
        expect_close(fast.y, plain.y, target + " y");
        cpu::combine_backward(fast.in(), fast.dy, {fast.d_parts, fast.d_weights});
        reference::combine_backward(plain.in(), plain.dy, {plain.d_parts, plain.d_weights});
        expect_close(fast.d_weights, plain.d_weights, target + " d_weights", 10.0);
        for (const size_t e : {0, 2})
          expect_close(fast.d_parts[e], plain.d_parts[e], target + " d_parts");
      }
  });
}

TEST(Mixture, ThreadsDoNotMatter) {
  expect_no_thread_matters([] {
    Problem p(40000, DType::f32);
    combine_forward(p.in(), p.y);
    combine_backward(p.in(), p.dy, {p.d_parts, p.d_weights});
    return std::vector<Tensor>{p.y, p.d_weights, p.d_parts[0], p.d_parts[2]};
  });
}

}  // namespace
}  // namespace heed::kernels
