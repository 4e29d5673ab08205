#pragma once

#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y += x; the dtypes (f32, bf16) may differ.
HEED_KERNEL(add_to, void(const Tensor& x, Tensor& y));
/// y *= factor.
HEED_KERNEL(scale, void(float factor, Tensor& y));
/// y = x in y's dtype, rounded to nearest even.
HEED_KERNEL(convert, void(const Tensor& x, Tensor& y));
/// The sum of the squares of all elements of all tensors, in double precision and a fixed order.
/// Tensors are f32; undefined ones have no elements.
HEED_KERNEL(sum_of_all_squares, double(std::span<const Tensor> tensors));
/// The same for one tensor.
inline double sum_of_squares(const Tensor& x) { return sum_of_all_squares({&x, 1}); }

}  // namespace heed::kernels
