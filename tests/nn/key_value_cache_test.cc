#include "heed/nn/key_value_cache.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/quantize.h"

namespace heed::nn {
namespace {

KeysValues rows(int64_t count, float value) {
  std::vector<float> keys(static_cast<size_t>(count) * 2, value),
      values(static_cast<size_t>(count), -value);
  return {Tensor::of({count, 2}, keys), Tensor::of({count, 1}, values)};
}

/// One sequence whose keys are the rows [0, begin + count); the last `count` are new.
kernels::AttentionMetadata appended(int32_t begin, int32_t count) {
  return {{0, count}, {0}, {begin + count}, {}};
}

TEST(KeyValueCache, KeepsRowsInOrder) {
  KeyValueCache cache(KeyValueCache::Mode::cache);
  KeysValues all;
  for (int i = 0; i < 20; ++i)
    all = cache.extend(rows(3, static_cast<float>(i)), appended(3 * i, 3));
  ASSERT_GE(all.keys.rows(), 60);
  for (int64_t row = 0; row < 60; ++row) {
    EXPECT_EQ(all.keys.data<float>()[2 * row + 1], static_cast<float>(row / 3));
    EXPECT_EQ(all.values.data<float>()[row], -static_cast<float>(row / 3));
  }
}

TEST(KeyValueCache, WritesTheNewTokensOfEachSequenceToTheirRows) {
  for (const auto dtype : {std::optional<DType>(), std::optional(DType::bf16)}) {
    KeyValueCache cache(KeyValueCache::Mode::cache, dtype);
    cache.extend(rows(8, -1.0f), appended(0, 8));
    // Two sequences: old row 2, new rows 7 and 3; old rows 0 and 1, new row 4.
    const kernels::AttentionMetadata spans{{0, 2, 3}, {0, 3}, {3, 6}, {2, 7, 3, 0, 1, 4}};
    const std::vector<float> keys{1, 1, 2, 2, 3, 3}, values{1, 2, 3};
    const KeysValues all =
        cache.extend({Tensor::of({3, 2}, keys), Tensor::of({3, 1}, values)}, spans);
    Tensor found = Tensor::empty({8, 1});
    kernels::convert(all.values.row_slice(0, 8), found);
    EXPECT_EQ(std::vector<float>(found.data<float>(), found.data<float>() + 8),
              (std::vector<float>{1, 1, 1, 2, 3, 1, 1, 1}));
  }
}

TEST(KeyValueCache, StoresRowsInTheRequestedType) {
  KeyValueCache cache(KeyValueCache::Mode::cache, DType::bf16);
  cache.extend(rows(2, 1.00390625f), appended(0, 2));  // between two numbers of bf16
  const KeysValues all = cache.extend(rows(1, 3.0f), appended(2, 1));
  ASSERT_EQ(all.keys.dtype(), DType::bf16);
  EXPECT_EQ(static_cast<float>(all.keys.data<bfloat16>()[0]), 1.0f);
  EXPECT_EQ(static_cast<float>(all.keys.data<bfloat16>()[4]), 3.0f);
  EXPECT_EQ(static_cast<float>(all.values.data<bfloat16>()[2]), -3.0f);
}

TEST(KeyValueCache, StoresQ8_0WithOneScalePer32Elements) {
  std::vector<float> keys(64), values(32, 0.0f);
  for (size_t i = 0; i < 64; ++i)
    keys[i] = i < 32 ? static_cast<float>(i) : -127.0f / static_cast<float>(i - 31);
  const KeysValues fresh{Tensor::of({1, 64}, keys), Tensor::of({1, 32}, values)};
  for (const DType computed : {DType::f32, DType::bf16}) {
    KeyValueCache cache(KeyValueCache::Mode::cache, DType::q8_0);
    KeysValues rows{Tensor::empty({1, 64}, computed), Tensor::empty({1, 32}, computed)};
    kernels::convert(fresh.keys, rows.keys);
    kernels::convert(fresh.values, rows.values);
    cache.extend(rows, appended(0, 1));
    const Tensor keys_kept = cache.extend(rows, appended(1, 1)).keys.row_slice(0, 2);
    ASSERT_EQ(keys_kept.dtype(), DType::q8_0);
    ASSERT_EQ(keys_kept.bytes(), 2 * 68);
    Tensor found = Tensor::empty({2, 64});
    kernels::dequantize(keys_kept, found);
    for (size_t i = 0; i < 128; ++i)
      EXPECT_NEAR(found.data<float>()[i], keys[i % 64], i % 64 < 32 ? 31 / 127.0 : 1.0);
  }
}

TEST(KeyValueCache, CopiesNoRowsUpToTheExpectedNumber) {
  KeyValueCache cache(KeyValueCache::Mode::cache);
  cache.reserve(500);
  const std::byte* first = cache.extend(rows(7, 1.0f), appended(0, 7)).keys.raw();
  for (int i = 0; i < 493; ++i)
    ASSERT_EQ(cache.extend(rows(1, 2.0f), appended(7 + i, 1)).keys.raw(), first) << "row " << i;
  EXPECT_EQ(cache.capacity(), 500);
  const KeysValues all = cache.extend(rows(1, 2.0f), appended(500, 1));  // beyond that number
  EXPECT_GT(cache.capacity(), 500);
  EXPECT_EQ(all.keys.data<float>()[0], 1.0f);
}

TEST(KeyValueCache, CachesNothingInTraining) {
  KeyValueCache cache;
  cache.extend(rows(3, 1), appended(0, 3));
  EXPECT_EQ(cache.extend(rows(2, 2), appended(0, 2)).keys.rows(), 2);
  EXPECT_EQ(cache.capacity(), 0);
}

}  // namespace
}  // namespace heed::nn
