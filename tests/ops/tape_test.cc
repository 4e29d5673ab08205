#include "heed/ops/gradient.h"

#include <gtest/gtest.h>

#include <utility>

#include "heed/tensor/allocator.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(Gradient, TakesMemoryFromTheFirstStepThatAddsUntilItIsZero) {
  Gradient gradient;
  EXPECT_FALSE(gradient.defined());
  expect_error([&] { gradient.slot(); }, "not trained");
  gradient = Tensor::full({3, 4}, 7.0f);
  gradient.fill_zero();
  EXPECT_TRUE(gradient.defined());
  EXPECT_TRUE(gradient.values<float>().empty());
  {
    auto [sum, accumulate] = gradient.slot();
    EXPECT_FALSE(accumulate) << "nothing is there to be added to";
    EXPECT_EQ(sum.shape(), Shape({3, 4}));
    sum.fill_zero();
    sum.data<float>()[5] = 2.0f;
  }
  EXPECT_TRUE(gradient.slot().accumulate);
  EXPECT_EQ(gradient.values<float>()[5], 2.0f);
  gradient.fill_zero();
  EXPECT_FALSE(std::as_const(gradient).operator const Tensor&().defined());
  Tensor& zeros = gradient;
  EXPECT_EQ(zeros.values<float>()[5], 0.0f);
}

TEST(Gradient, IsCountedAsInUseWithAndWithoutMemory) {
  const size_t before = allocated_bytes();
  Gradient gradient;
  gradient = Tensor::empty({256, 256});
  const size_t with = allocated_bytes();
  EXPECT_EQ(with, before + 256 * 256 * 4);
  gradient.fill_zero();
  EXPECT_EQ(allocated_bytes(), with);
  gradient.fill_zero();
  EXPECT_EQ(allocated_bytes(), with);
  gradient.slot();
  EXPECT_EQ(allocated_bytes(), with);
}

TEST(Tape, WhatIsMadeAnewIsMadeOnceForAllThatReadIt) {
  Tape tape;
  int made = 0;
  Kept first = tape.keep(Tensor::full({1}, 1.0f)), second = first;
  {
    const Tensor y = Tensor::full({2, 3}, 5.0f);
    const Kept again = tape.remake(y, [&made] {
      ++made;
      return Tensor::full({2, 3}, 5.0f);
    });
    tape.record([again] {});
    first = tape.keep(y);
    second = tape.keep(y.reshaped({3, 2}));
  }
  EXPECT_EQ(made, 0);
  EXPECT_EQ(first.tensor().values<float>()[5], 5.0f);
  EXPECT_EQ(second.tensor().shape(), Shape({3, 2}));
  EXPECT_EQ(made, 1);
}

TEST(Tape, WhatIsNotMadeAnewIsKept) {
  Tape tape;
  const Tensor x = Tensor::full({4}, 3.0f);
  EXPECT_EQ(tape.keep(x).tensor().id(), x.id());
}

}  // namespace
}  // namespace heed
