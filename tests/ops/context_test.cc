#include "heed/ops/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "heed/ops/activation.h"
#include "heed/ops/dropout.h"
#include "heed/ops/norm.h"

namespace heed::ops {
namespace {

Parameter parameter(const std::string& name, std::array<float, 3> values) {
  Parameter made;
  made.name = name;
  made.value = Tensor::of({3}, values);
  return made;
}

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

TEST(ResultFor, NormsWriteOverATensorThatWasMovedIntoThem) {
  Context context;
  const Parameter scale = parameter("scale", {2.0f, 1.0f, 0.5f});
  const Parameter shift = parameter("shift", {0.0f, 1.0f, -1.0f});
  const Tensor x = numbers().reshaped({1, 3});
  const auto expect_equal = [&](const auto& norm) {
    const Tensor expected = norm(x);
    Tensor moved = x.clone();
    const std::byte* const memory = moved.raw();
    const Tensor y = norm(std::move(moved));
    EXPECT_EQ(y.raw(), memory);
    EXPECT_NE(expected.raw(), x.raw());
    EXPECT_TRUE(std::ranges::equal(y.values<float>(), expected.values<float>()));
  };
  expect_equal([&](Tensor in) { return layer_norm(context, std::move(in), scale, shift, 1e-5f); });
  expect_equal([&](Tensor in) { return rms_norm(context, std::move(in), scale, 1e-5f); });
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
