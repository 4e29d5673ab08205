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
/// What log_softmax() subtracts from a row: y [N, 2] f32 gets the largest element, or 0 in a row of
/// nothing but minus infinity, and the logarithm of the sum of the exponentials relative to it.
/// Where kernels compute in f32, on a CPU or GPU, (x - y[n, 0]) - y[n, 1] has the bits of
/// log_softmax(x). Both are NaN where the sum is.
HEED_KERNEL(log_sum_exp, void(const Tensor& x, Tensor& y));

}  // namespace heed::kernels
