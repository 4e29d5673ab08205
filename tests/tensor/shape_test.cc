#include "heed/tensor/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/base/testing.h"

namespace heed {
namespace {

TEST(Shape, ReturnsItsSizes) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape[-3], 2);
  EXPECT_EQ(shape.elements(), 24);
  EXPECT_EQ(shape.text(), "[2, 3, 4]");
}

TEST(Shape, IsConstructedFromAListOfSizes) {
  const std::vector<int64_t> sizes{2, 3};
  EXPECT_EQ(Shape(sizes), (Shape{2, 3}));
  expect_error([] { Shape(std::vector<int64_t>(5, 1)); }, "a shape of 5 axes");
  expect_error([] { Shape(std::vector<int64_t>{1, -1}); }, "axis 1 has size -1");
}

TEST(Shape, OfRankZeroHasOneElement) {
  EXPECT_EQ(Shape().rank(), 0);
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ(Shape().text(), "[]");
}

TEST(Shape, MayHaveNoElements) { EXPECT_EQ((Shape{0, 5}.elements()), 0); }

TEST(Shape, ComparesRankAndSizes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
}

TEST(Shape, RefusesInvalidSizes) {
  expect_error([] { Shape({1, 2, 3, 4, 5}); }, "a shape of 5 axes, at most 4 are possible");
  expect_error([] { Shape({2, -1}); }, "axis 1 has size -1");
}

TEST(Shape, RefusesMoreElementsThanCanBeAddressed) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  for (const Shape& shape : {Shape{(int64_t{1} << 60) - 1}, Shape{1 << 30, (1 << 30) - 1}})
    EXPECT_GT(8 * shape.elements(), 0);
  for (const auto& sizes : std::vector<std::vector<int64_t>>{
           {kMax, 1}, {1 << 30, 1 << 30}, {kMax, kMax}, {int64_t{1} << 32, int64_t{1} << 32}})
    expect_error([&] { Shape({sizes[0], sizes[1]}); }, "has too many elements");
}

TEST(Shape, RefusesAnAxisThatDoesNotExist) {
  const Shape shape{2, 3};
  expect_error([&] { shape[2]; }, "axis 2 is outside the shape [2, 3]");
  expect_error([&] { shape[-3]; }, "axis -3 is outside the shape [2, 3]");
}

}  // namespace
}  // namespace heed
