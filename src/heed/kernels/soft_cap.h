#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// x = cap tanh(x / cap), f32: large numbers approach +-cap, small ones hardly change (Gemma 2,
/// 2024). cap > 0.
HEED_KERNEL(void, soft_cap, (float cap, Tensor& x), (cap, x))

}  // namespace heed::kernels
