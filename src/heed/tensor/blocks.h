#pragma once

#include <array>
#include <cstdint>

#include "heed/tensor/float16.h"

namespace heed {

// The blocks of GGML's quantised types, as they lie in memory and in GGUF files: consecutive
// elements of a row that share a scale (https://github.com/ggml-org/ggml, ggml-common.h).

/// Element j is scale * (q - 8), j + 16 the same with q from the upper half of byte j.
struct BlockQ4_0 {
  static constexpr int64_t kElements = 32;
  float16 scale;
  std::array<uint8_t, 16> quants;
};

/// Element j is scale * q + minimum, j + 16 the same with q from the upper half of byte j.
struct BlockQ4_1 {
  static constexpr int64_t kElements = 32;
  float16 scale, minimum;
  std::array<uint8_t, 16> quants;
};

/// Element j is scale * q.
struct BlockQ8_0 {
  static constexpr int64_t kElements = 32;
  float16 scale;
  std::array<int8_t, 32> quants;
};

/// Element j is (scale * scales[j / 16]) * (q - 32). The lower four bits of q are in `low`, the
/// upper two in `high`; within each half of 128 elements, element 32 i + l (i = 0..3) has them in
/// bits 4 (i / 2) of low[32 (i % 2) + l] and bits 2 i of high[l].
struct BlockQ6_K {
  static constexpr int64_t kElements = 256;
  std::array<uint8_t, 128> low;
  std::array<uint8_t, 64> high;
  std::array<int8_t, 16> scales;
  float16 scale;
};

static_assert(sizeof(BlockQ4_0) == 18 && alignof(BlockQ4_0) == 2);
static_assert(sizeof(BlockQ4_1) == 20 && alignof(BlockQ4_1) == 2);
static_assert(sizeof(BlockQ8_0) == 34 && alignof(BlockQ8_0) == 2);
static_assert(sizeof(BlockQ6_K) == 210 && alignof(BlockQ6_K) == 2);

}  // namespace heed
