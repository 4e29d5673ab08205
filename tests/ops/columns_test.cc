#include "heed/ops/columns.h"

#include <gtest/gtest.h>

#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using testing::check_op;
using testing::input;
using testing::random_tensor;

/// 100 n + c for row n and column c.
Tensor numbered(int64_t rows, int64_t cols) {
  Tensor x = Tensor::empty({rows, cols});
  for (int64_t i = 0; i < rows * cols; ++i)
    x.data<float>()[i] = static_cast<float>(100 * (i / cols) + i % cols);
  return x;
}

std::vector<float> row(const Tensor& x, int64_t n) {
  const Tensor one = x.row_slice(n, n + 1);
  return {one.data<float>(), one.data<float>() + one.elements()};
}

TEST(Columns, SplittingAndJoiningSelectTheRightColumns) {
  Context context;
  const Tensor x = numbered(2, 6);
  EXPECT_EQ(row(ops::slice_columns(context, x, 2, 4), 1), (std::vector<float>{102, 103}));
  const ops::HeadParts parts = ops::split_heads(context, x, 2, 1);
  EXPECT_EQ(row(parts.first, 1), (std::vector<float>{100, 103}));
  EXPECT_EQ(row(parts.second, 1), (std::vector<float>{101, 102, 104, 105}));
  EXPECT_EQ(row(ops::join_heads(context, parts.first, parts.second, 2), 1), row(x, 1));
  EXPECT_EQ(row(ops::join_shared(context, parts.first, numbered(2, 2), 2), 1),
            (std::vector<float>{100, 100, 101, 103, 100, 101}));
  EXPECT_EQ(row(ops::concat_columns(context, numbered(2, 1), numbered(2, 2)), 0),
            (std::vector<float>{0, 0, 1}));
}

TEST(Columns, GradientsMatchFiniteDifferences) {
  const Tensor x = random_tensor({3, 8}, 1), shared = random_tensor({3, 2}, 2);
  check_op([&](Context& c) { return ops::slice_columns(c, x, 1, 6); }, {input("x", x)});
  check_op([&](Context& c) { return ops::concat_columns(c, x, shared); },
           {input("x", x), input("shared", shared)});
  check_op(
      [&](Context& c) {
        const ops::HeadParts parts = ops::split_heads(c, x, 2, 1);
        return ops::join_heads(c, parts.second, parts.first, 2);
      },
      {input("x", x)});
  check_op([&](Context& c) { return ops::join_shared(c, x, shared, 4); },
           {input("x", x), input("shared", shared)});
}

TEST(Columns, GradientsAreRightForPartsThatAreReadTwiceOrNever) {
  const Tensor x = random_tensor({3, 8}, 1);
  check_op(
      [&](Context& c) {
        const ops::HeadParts parts = ops::split_heads(c, x, 2, 2);
        return ops::concat_columns(c, parts.first, ops::slice_columns(c, x, 0, 3));
      },
      {input("x", x)});
}

TEST(Columns, RefusesMismatchedSizes) {
  Context context;
  const Tensor x = Tensor::zeros({3, 8});
  EXPECT_THROW(ops::slice_columns(context, x, 4, 9), Error);
  EXPECT_THROW(ops::slice_columns(context, x, 4, 4), Error);
  EXPECT_THROW(ops::split_heads(context, x, 3, 1), Error);
  EXPECT_THROW(ops::split_heads(context, x, 2, 4), Error);
  EXPECT_THROW(ops::join_heads(context, x, Tensor::zeros({2, 8}), 2), Error);
  EXPECT_THROW(ops::join_shared(context, x, Tensor::zeros({3, 2}, DType::bf16), 2), Error);
  EXPECT_THROW(ops::join_shared(context, x, Tensor::zeros({3, 2}), 3), Error);
}

}  // namespace
}  // namespace heed
