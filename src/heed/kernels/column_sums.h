#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// sums[d] += the sum over n of x[n, d]: the gradient of a bias. x [N, D] f32 or bf16; sums [D]
/// f32. The order of the sum is fixed.
HEED_KERNEL(column_sums, void(const Tensor& x, Tensor& sums));

}  // namespace heed::kernels
