#pragma once

#include "heed/gpu/code/operations.h"

// Sums over the threads of a block, in an order that its number of threads alone decides.

namespace heed::kernels::gpu {

struct Sum {
  static HEED_DEVICE float apply(float a, float b) { return a + b; }
};
struct Max {
  /// Not a number if one of them is not.
  static HEED_DEVICE float apply(float a, float b) { return a > b || a != a ? a : b; }
};

/// The value of all lanes of a warp, in every lane.
template <typename Operation>
HEED_DEVICE float reduce_warp(float value) {
  for (unsigned mask = 16; mask != 0; mask /= 2)
    value = Operation::apply(value, heed::gpu::shuffle_xor(value, mask));
  return value;
}

/// The value of all threads of a block, in every thread. `shared` has an element for each warp and
/// is free again when this returns.
template <typename Operation>
HEED_DEVICE float reduce_block(float value, float* shared) {
  using namespace heed::gpu;
  value = reduce_warp<Operation>(value);
  const unsigned warps = block_threads() / 32;
  if (warps == 1) return value;
  if (thread_index() % 32 == 0) shared[thread_index() / 32] = value;
  synchronize();
  value = shared[0];
  for (unsigned warp = 1; warp < warps; ++warp) value = Operation::apply(value, shared[warp]);
  synchronize();
  return value;
}

}  // namespace heed::kernels::gpu
