#include "heed/kernels/rotary.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

Rotation some_rotation(int64_t rows, int64_t pairs) {
  Rotation rotation{Tensor::empty({rows, pairs}), Tensor::empty({rows, pairs})};
  for (int64_t i = 0; i < rows * pairs; ++i) {
    rotation.cos.data<float>()[i] = std::cos(0.1f * static_cast<float>(i));
    rotation.sin.data<float>()[i] = std::sin(0.1f * static_cast<float>(i));
  }
  return rotation;
}

TEST(Rotary, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const PairLayout layout : {PairLayout::interleaved, PairLayout::halves})
      for (const int64_t pairs : {1, 3, 4, 8, 9, 32})
        for (const int64_t rest : {0, 5})  // columns that are not rotated
          for (const DType dtype : kFloating) {
            RotateOptions options{.n_heads = 3, .layout = layout, .begin = rest / 2};
            const Tensor x = normals({7, 3 * (2 * pairs + rest)}, 1, dtype);
            const Rotation rotation = some_rotation(7, pairs);
            Tensor fast = Tensor::empty(x.shape(), dtype), plain = Tensor::empty(x.shape(), dtype);
            cpu::rotate(x, rotation, options, fast);
            reference::rotate(x, rotation, options, plain);
            expect_close(fast, plain, target + " forward");
            options.inverse = true;
            cpu::rotate(x, rotation, options, fast);
            reference::rotate(x, rotation, options, plain);
            expect_close(fast, plain, target + " backward");
          }
  });
}

TEST(Rotary, RotatesPairsByTheirAngles) {
  const Rotation quarter{Tensor::zeros({1, 2}), Tensor::full({1, 2}, 1.0f)};
  const Tensor x = Tensor::of({1, 4}, std::vector<float>{1, 2, 3, 4});
  Tensor y = Tensor::empty(x.shape());
  rotate(x, quarter, {.layout = PairLayout::interleaved}, y);
  EXPECT_EQ(numbers(y), (std::vector<double>{-2, 1, -4, 3}));
  rotate(x, quarter, {.layout = PairLayout::halves}, y);
  EXPECT_EQ(numbers(y), (std::vector<double>{-3, -4, 1, 2}));
}

TEST(Rotary, TheInverseUndoesARotationAndMayWorkInPlace) {
  const Tensor x = normals({20, 4 * 24}, 2);
  for (const PairLayout layout : {PairLayout::interleaved, PairLayout::halves}) {
    RotateOptions options{.n_heads = 4, .layout = layout, .begin = 2};
    const Rotation rotation = some_rotation(20, 10);
    Tensor y = Tensor::empty(x.shape());
    rotate(x, rotation, options, y);
    options.inverse = true;
    rotate(y, rotation, options, y);
    expect_close(y, x, "there and back");
  }
}

TEST(Rotary, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = normals({900, 512}, 3);
  const Rotation rotation = some_rotation(900, 32);
  expect_same_on_any_thread_count([&] {
    Tensor y = Tensor::empty(x.shape());
    rotate(x, rotation, {.n_heads = 8}, y);
    return std::vector<Tensor>{y};
  });
}

}  // namespace
}  // namespace heed::kernels
