#include "heed/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/base/testing.h"

namespace heed {
namespace {

Tensor counted(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::of(shape, values);
}

TEST(Tensor, IsUndefinedByDefault) {
  Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(tensor.elements(), 0);
  EXPECT_FALSE(tensor.clone().defined());
  tensor.fill_zero();
}

TEST(Tensor, IsConstructedFromValues) {
  EXPECT_EQ(Tensor::full({2, 2}, 3).values<float>()[3], 3.0f);
  EXPECT_EQ(Tensor::zeros({2}).values<float>()[1], 0.0f);
  EXPECT_EQ(Tensor::zeros({2}, DType::bf16).values<bfloat16>()[1].bits, 0);
  const std::vector<int32_t> ids{5, -6};
  EXPECT_EQ(Tensor::of({2}, std::span(ids)).values<int32_t>()[1], -6);
  expect_error([&] { Tensor::of({3}, std::span(ids)); }, "2 values for a tensor [3]");
}

TEST(Tensor, OfRankZeroHoldsOneNumber) {
  const Tensor tensor = Tensor::full({}, 2);
  EXPECT_EQ(tensor.elements(), 1);
  EXPECT_EQ(tensor.rows(), 1);
  EXPECT_EQ(tensor.cols(), 1);
}

TEST(Tensor, HasAMatrixView) {
  const Tensor tensor = Tensor::empty({2, 3, 4}, DType::bf16);
  EXPECT_EQ(tensor.rows(), 6);
  EXPECT_EQ(tensor.cols(), 4);
  EXPECT_EQ(tensor.bytes(), 48);
}

TEST(Tensor, CountsEmptyRows) {
  EXPECT_EQ(Tensor::empty({3, 0}).rows(), 3);
  EXPECT_EQ(Tensor::empty({0, 3}).rows(), 0);
  EXPECT_TRUE(Tensor::empty({0, 3}).defined());
}

TEST(Tensor, IsAlignedForTheWidestVectors) {
  for (const int64_t size : {1, 3, 100, 1000000})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(Tensor::empty({size}).raw()) % 64, 0u);
}

TEST(Tensor, SharesItsElementsWithCopies) {
  Tensor tensor = counted({2, 3});
  Tensor copy = tensor, reshaped = tensor.reshaped({3, 2}), clone = tensor.clone();
  tensor.data<float>()[0] = 9;
  EXPECT_EQ(copy.values<float>()[0], 9);
  EXPECT_EQ(reshaped.values<float>()[0], 9);
  EXPECT_EQ(clone.values<float>()[0], 0);
  EXPECT_EQ(copy.id(), tensor.id());
  EXPECT_EQ(reshaped.id(), tensor.id());
  EXPECT_NE(clone.id(), tensor.id());
  expect_error([&] { tensor.reshaped({4}); }, "a tensor [2, 3] cannot be reshaped to [4]");
}

TEST(Tensor, RowSliceIsAView) {
  Tensor tensor = counted({2, 2, 3});
  Tensor rows = tensor.row_slice(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 3}));
  EXPECT_EQ(rows.values<float>()[0], 3);
  rows.data<float>()[0] = -1;
  EXPECT_EQ(tensor.values<float>()[3], -1);
  EXPECT_EQ(tensor.row_slice(4, 4).elements(), 0);
  expect_error([&] { tensor.row_slice(3, 5); }, "rows 3 to 5 are outside the tensor [2, 2, 3]");
  expect_error([&] { tensor.row_slice(-1, 2); }, "rows -1 to 2");
  expect_error([&] { tensor.row_slice(2, 1); }, "rows 2 to 1");
}

TEST(Tensor, KeepsTheElementsOfASliceAlive) {
  Tensor rows = counted({4, 1000}).row_slice(3, 4);
  const Tensor other = Tensor::full({4, 1000}, -1);
  EXPECT_EQ(rows.values<float>()[0], 3000);
}

TEST(Tensor, KeepsTheOwnerOfAViewAlive) {
  auto owner = std::make_shared<std::vector<float>>(4, 2.0f);
  const std::weak_ptr<std::vector<float>> watch = owner;
  Tensor view =
      Tensor::view({4}, DType::f32,
                   std::shared_ptr<std::byte>(owner, reinterpret_cast<std::byte*>(owner->data())));
  owner.reset();
  EXPECT_EQ(view.values<float>()[3], 2.0f);
  view = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, RefusesAccessAsAnotherDtype) {
  const Tensor tensor = Tensor::zeros({2, 3}, DType::bf16);
  expect_error([&] { tensor.values<float>(); }, "a tensor [2, 3] of bf16 was read as f32");
  expect_error([&] { tensor.data<int32_t>(); }, "a tensor [2, 3] of bf16 was read as i32");
}

TEST(Tensor, ReportsThatThereIsNoMemory) {
  expect_error([] { Tensor::empty({int64_t{1} << 59}); }, "out of memory");
}

TEST(Tensor, OfBlocksCountsWholeBlocks) {
  const Tensor tensor = Tensor::zeros({2, 3, 64}, DType::q4_0);
  EXPECT_EQ(tensor.rows(), 6);
  EXPECT_EQ(tensor.cols(), 64);
  EXPECT_EQ(tensor.row_bytes(), 2 * 18);
  EXPECT_EQ(tensor.bytes(), 6 * 2 * 18);
  EXPECT_EQ(tensor.values<BlockQ4_0>().size(), 12u);
  EXPECT_EQ(tensor.row_slice(2, 4).raw(), tensor.raw() + 2 * 36);
  EXPECT_EQ(tensor.row_slice(2, 4).bytes(), 2 * 36);
  EXPECT_EQ(tensor.reshaped({3, 128}).row_bytes(), 4 * 18);
  EXPECT_EQ(Tensor::zeros({1, 512}, DType::q6_K).bytes(), 2 * 210);
  EXPECT_EQ(Tensor::zeros({32}, DType::q4_1).clone().bytes(), 20);
  EXPECT_EQ(Tensor::zeros({32}, DType::q8_0).bytes(), 34);
}

TEST(Tensor, RefusesToDivideBlocks) {
  expect_error(
      [] {
        Tensor::empty({2, 48}, DType::q4_1);
      },
      "a tensor [2, 48] cannot be stored as q4_1, whose blocks are 32 elements of a row");
  expect_error([] { Tensor::empty({}, DType::q8_0); }, "a tensor [] cannot be stored as q8_0");
  const Tensor tensor = Tensor::zeros({4, 32}, DType::q8_0);
  expect_error([&] { tensor.reshaped({8, 16}); }, "a tensor [8, 16] cannot be stored as q8_0");
  expect_error([&] { tensor.data<float>(); }, "a tensor [4, 32] of q8_0 was read as f32");
}

TEST(DType, HasAnElementSizeOnlyWhenPlain) {
  EXPECT_EQ(size_of(DType::f32), 4);
  EXPECT_EQ(size_of(DType::f16), 2);
  expect_error([] { size_of(DType::q6_K); }, "an element of q6_K has no size of its own");
}

TEST(VisitFloating, CallsTheVisitorWithTheType) {
  EXPECT_EQ(visit_floating(DType::f32, [](auto x) { return sizeof(x); }), 4u);
  EXPECT_EQ(visit_floating(DType::bf16, [](auto x) { return sizeof(x); }), 2u);
  expect_error([] { visit_floating(DType::f16, [](auto) {}); }, "expected, found f16");
  expect_error([] { visit_floating(DType::i32, [](auto) {}); }, "floating dtype was expected");
}

}  // namespace
}  // namespace heed
