#pragma once

#include <cstring>

#include "heed/gpu/code/operations.h"

// Sums of doubles over the threads of a block, in an order that its number of threads alone
// decides.

namespace heed::kernels::gpu {

HEED_DEVICE double shuffle_xor_double(double value, unsigned mask) {
  uint32_t halves[2];
  memcpy(halves, &value, sizeof(value));
  for (uint32_t& half : halves)
    half = heed::gpu::bits_of_float(heed::gpu::shuffle_xor(heed::gpu::float_of_bits(half), mask));
  memcpy(&value, halves, sizeof(value));
  return value;
}

/// The sum over a warp, in every lane.
HEED_DEVICE double sum_warp(double value) {
  for (unsigned mask = 16; mask != 0; mask /= 2) value += shuffle_xor_double(value, mask);
  return value;
}

/// The sum over a block, in every thread. `shared` has an element for each warp and is free again
/// when this returns.
HEED_DEVICE double sum_block(double value, double* shared) {
  using namespace heed::gpu;
  value = sum_warp(value);
  const unsigned warps = block_threads() / 32;
  if (thread_index() % 32 == 0) shared[thread_index() / 32] = value;
  synchronize();
  value = 0.0;
  for (unsigned warp = 0; warp < warps; ++warp) value += shared[warp];
  synchronize();
  return value;
}

}  // namespace heed::kernels::gpu
