#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// c = a weight^T + bias, with a [M, K] of f32 or bf16, weight [N, K] of any stored dtype, read in
/// place, bias [N] f32 or undefined (absent), and c [M, N] of f32 or bf16, which must overlap none
/// of them. The weight's elements are converted to f32 exactly as dequantize() does; a is not
/// quantised. Every element of c is one f32 sum whose order depends on K alone, not on M, N or the
/// number of threads; the bias is added at the end. The caller checks sizes. Throws Error for any
/// other dtype.
HEED_KERNEL(matmul_stored,
            void(const Tensor& a, const Tensor& weight, const Tensor& bias, Tensor& c));

}  // namespace heed::kernels
