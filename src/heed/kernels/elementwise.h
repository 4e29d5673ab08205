#pragma once

#include <span>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y += x; the dtypes (f32, bf16) may differ.
HEED_KERNEL(void, add_to, (const Tensor& x, Tensor& y), (x, y))
/// y *= factor.
HEED_KERNEL(void, scale, (float factor, Tensor& y), (factor, y))
/// y = x in y's dtype, rounded to nearest even.
HEED_KERNEL(void, convert, (const Tensor& x, Tensor& y), (x, y))
/// The sum of the squares of all elements of all tensors (f32; one that is not defined has none),
/// in double precision and a fixed order.
HEED_KERNEL(double, sum_of_all_squares, (std::span<const Tensor> tensors), (tensors))
/// The same of one tensor.
inline double sum_of_squares(const Tensor& x) { return sum_of_all_squares({&x, 1}); }

}  // namespace heed::kernels
