#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y = exp(x - max) / sum over each row of x [N, D]; one dtype. Elements may be minus infinity; a
/// row of nothing else gives zeros. A NaN makes its whole row NaN.
HEED_KERNEL(softmax_forward, void(const Tensor& x, Tensor& y));
/// dx = y * (dy - sum(y * dy)) over each row.
HEED_KERNEL(softmax_backward, void(const Tensor& y, const Tensor& dy, Tensor& dx));
/// y = x - max - log(sum(exp(x - max))) over each row, f32; y may be x. A row of nothing but minus
/// infinity stays as it is.
HEED_KERNEL(log_softmax, void(const Tensor& x, Tensor& y));

}  // namespace heed::kernels
