#include "heed/ops/context.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "heed/ops/activation.h"
#include "heed/ops/dropout.h"

namespace heed::ops {
namespace {

Tensor numbers() { return Tensor::of({3}, std::array{-1.0f, 0.0f, 2.0f}); }

TEST(ResultFor, AnOpWritesOverATensorThatWasMovedIntoIt) {
  Context context;
  Tensor x = numbers();
  const std::byte* const memory = x.raw();
  Tensor y = activation(context, Activation::relu, std::move(x));
  EXPECT_EQ(y.raw(), memory);
  EXPECT_EQ(y.values<float>()[0], 0.0f);
  y = dropout_add(context, std::move(y), numbers(), 0.0f);
  EXPECT_EQ(y.raw(), memory);
  EXPECT_EQ(y.values<float>()[2], 4.0f);
  y = gated(context, Activation::relu, std::move(y), numbers());
  EXPECT_EQ(y.raw(), memory);
  EXPECT_EQ(y.values<float>()[2], 8.0f);
}

TEST(ResultFor, AnOpKeepsATensorThatItsCallerOrATapeNeeds) {
  Context context;
  const Tensor x = numbers();
  EXPECT_NE(activation(context, Activation::relu, x).raw(), x.raw());
  EXPECT_EQ(x.values<float>()[0], -1.0f);

  Tape tape;
  context.tape = &tape;
  Tensor moved = numbers();
  const std::byte* const memory = moved.raw();
  EXPECT_NE(activation(context, Activation::gelu, std::move(moved)).raw(), memory);
}

}  // namespace
}  // namespace heed::ops
