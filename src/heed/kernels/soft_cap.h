#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

namespace cpu {
void soft_cap(float cap, Tensor& x);
}
namespace reference {
void soft_cap(float cap, Tensor& x);
}

/// x = cap tanh(x / cap), f32, cap > 0 (Gemma 2, 2024).
inline constexpr Kernel<void(float cap, Tensor& x)> soft_cap{cpu::soft_cap, reference::soft_cap};

}  // namespace heed::kernels
