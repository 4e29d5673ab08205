#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// c = a weight^T + bias, with a [M, K] of f32 or bf16, weight [N, K] of any stored dtype, read
/// where it lies, bias [N] f32 or absent, and c [M, N] of f32 or bf16, which must overlap none of
/// them. The weight's elements are widened to f32 exactly as dequantize() does; a is not quantised.
/// Every element of c is one f32 sum whose order depends on K alone (neither on M and N nor on the
/// number of threads), to which the bias is added at the end. Sizes are the caller's to check;
/// throws Error when a dtype is not one of these.
HEED_KERNEL(void, matmul_stored,
            (const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c),
            (a, weight, bias, c))

}  // namespace heed::kernels
