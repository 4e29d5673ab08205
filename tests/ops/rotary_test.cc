#include "heed/ops/rotary.h"

#include <gtest/gtest.h>

#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using kernels::PairLayout;
using testing::check_op;
using testing::input;
using testing::random_tensor;

kernels::Rotation some_rotation(int64_t rows, int64_t pairs) {
  kernels::Rotation rotation{Tensor::empty({rows, pairs}), Tensor::empty({rows, pairs})};
  for (int64_t i = 0; i < rows * pairs; ++i) {
    rotation.cos.data<float>()[i] = std::cos(static_cast<float>(i));
    rotation.sin.data<float>()[i] = std::sin(static_cast<float>(i));
  }
  return rotation;
}

TEST(Rotary, GradientMatchesFiniteDifferences) {
  const Tensor x = random_tensor({5, 3 * 10}, 1);
  const kernels::Rotation rotation = some_rotation(5, 3);
  for (const PairLayout layout : {PairLayout::halves, PairLayout::interleaved})
    for (const int64_t begin : {0, 4})
      check_op(
          [&](Context& c) {
            return ops::rotate(c, x, rotation, {.n_heads = 3, .layout = layout, .begin = begin});
          },
          {input("x", x)});
}

TEST(Rotary, RefusesMismatchedSizes) {
  Context context;
  const Tensor x = Tensor::zeros({5, 12});
  EXPECT_THROW(ops::rotate(context, x, some_rotation(5, 2), {.n_heads = 5}), Error);
  EXPECT_THROW(ops::rotate(context, x, some_rotation(4, 2), {.n_heads = 2}), Error);
  EXPECT_THROW(ops::rotate(context, x, some_rotation(5, 4), {.n_heads = 2}), Error);
  EXPECT_THROW(ops::rotate(context, x, some_rotation(5, 3), {.n_heads = 2, .begin = 1}), Error);
  EXPECT_THROW(ops::rotate(context, x, {}, {.n_heads = 2}), Error);
}

}  // namespace
}  // namespace heed
