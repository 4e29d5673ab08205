#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// x = cap tanh(x / cap), f32, cap > 0 (Gemma 2, 2024).
HEED_KERNEL(soft_cap, void(float cap, Tensor& x));

}  // namespace heed::kernels
