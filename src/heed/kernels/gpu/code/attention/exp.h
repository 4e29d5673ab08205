#pragma once

#include "heed/gpu/code/operations.h"

namespace heed::kernels::gpu {

constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

/// 2^(x - largest), where x is at most `largest`; 0 if both are minus infinity.
HEED_DEVICE float exp2_below(float x, float largest) {
  return heed::gpu::fast_exp2(x - (largest == -INFINITY ? 0.0f : largest));
}

}  // namespace heed::kernels::gpu
