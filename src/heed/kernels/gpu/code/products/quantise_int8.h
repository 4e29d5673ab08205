#pragma once

#include "heed/kernels/gpu/code/blocks/blocks.h"
#include "heed/kernels/gpu/code/products/matmul_int8.h"
#include "heed/kernels/gpu/code/products/quantised.h"

// Rows of 8-bit integers with one scale.

namespace heed::kernels::gpu {

/// Elements [4 i, 4 i + 4) of a row; zeros after its end.
template <typename T>
HEED_DEVICE void load_four_of(const T* row, int columns, int i, float (&x)[4]) {
  if (kIsBlock<T> || columns % 4 == 0) {
    for (float& element : x) element = 0.0f;
    if (4 * i >= columns) return;
    if constexpr (requires { load_four(row, x); })
      load_four(row + 4 * i, x);
    else
      widen_four(row, 4 * i, x);
  } else if constexpr (!kIsBlock<T>) {
    for (int j = 0; j < 4; ++j) x[j] = 4 * i + j < columns ? wide(row[4 * i + j]) : 0.0f;
  }
}

/// Calls put(i, word) with the integers of elements [4 i, 4 i + 4) for each i < fours, in some
/// thread of the block. Returns the scale.
template <typename T, typename Put>
HEED_DEVICE float quantise_row(const T* row, int columns, int fours, const Put& put) {
  using namespace heed::gpu;
  uint32_t* const shared = shared_memory<uint32_t>();
  const int thread = static_cast<int>(thread_index()), threads = static_cast<int>(block_threads());
  uint32_t largest = 0;
  float x[4];
  for (int i = thread; i < fours; i += threads) {
    load_four_of(row, columns, i, x);
    const uint32_t own = largest_magnitude(x);
    largest = own > largest ? own : largest;
  }
  for (unsigned mask = 16; mask != 0; mask /= 2) {
    const uint32_t other = shuffle_bits(largest, mask);
    largest = other > largest ? other : largest;
  }
  if (thread % 32 == 0) shared[thread / 32] = largest;
  synchronize();
  for (int warp = 0; warp < threads / 32; ++warp)
    largest = shared[warp] > largest ? shared[warp] : largest;
  const QuantScale by = quant_scale(largest);
  int sum = 0;
  for (int i = thread; i < fours; i += threads) {
    load_four_of(row, columns, i, x);
    put(i, quants_of(x, by, sum));
  }
  return by.scale;
}

}  // namespace heed::kernels::gpu
