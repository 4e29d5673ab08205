#pragma once

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y = 1 / (1 + exp(-x)), f32.
HEED_KERNEL(sigmoid, void(const Tensor& x, Tensor& y));
/// dx = dy y (1 - y), f32.
HEED_KERNEL(sigmoid_backward, void(const Tensor& y, const Tensor& dy, Tensor& dx));

}  // namespace heed::kernels
