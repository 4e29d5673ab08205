#pragma once

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y = exp(x - max) / sum over each row of x [N, D]; one dtype. Rows may hold minus infinity:
/// a row of nothing else gives zeros. A NaN makes its whole row NaN.
HEED_KERNEL(void, softmax_forward, (const Tensor& x, Tensor& y), (x, y))
/// dx = y * (dy - sum(y * dy)) over each row.
HEED_KERNEL(void, softmax_backward, (const Tensor& y, const Tensor& dy, Tensor& dx), (y, dy, dx))
/// y = x - max - log(sum(exp(x - max))) over each row, f32; y may be x. A row of nothing but minus
/// infinity stays as it is.
HEED_KERNEL(void, log_softmax, (const Tensor& x, Tensor& y), (x, y))

}  // namespace heed::kernels
