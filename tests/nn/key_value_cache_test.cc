#include "heed/nn/key_value_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed::nn {
namespace {

KeysValues rows(int64_t count, float value) {
  std::vector<float> keys(static_cast<size_t>(count) * 2, value),
      values(static_cast<size_t>(count), -value);
  return {Tensor::of({count, 2}, keys), Tensor::of({count, 1}, values)};
}

TEST(KeyValueCache, KeepsRowsInTheOrderInWhichTheyCame) {
  KeyValueCache cache(KeyValueCache::Mode::keep);
  KeysValues all;
  for (int i = 0; i < 20; ++i) all = cache.extend(rows(3, static_cast<float>(i)));
  ASSERT_EQ(cache.rows(), 60);
  ASSERT_EQ(all.keys.shape(), (Shape{60, 2}));
  for (int64_t row = 0; row < 60; ++row) {
    EXPECT_EQ(all.keys.data<float>()[2 * row + 1], static_cast<float>(row / 3));
    EXPECT_EQ(all.values.data<float>()[row], -static_cast<float>(row / 3));
  }
}

TEST(KeyValueCache, ForgetsInTraining) {
  KeyValueCache cache;
  cache.extend(rows(3, 1));
  EXPECT_EQ(cache.extend(rows(2, 2)).keys.rows(), 2);
  EXPECT_EQ(cache.rows(), 0);
}

}  // namespace
}  // namespace heed::nn
