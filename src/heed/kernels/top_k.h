#pragma once

#include <cstdint>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// The largest k that top_k() takes.
inline constexpr int64_t kMostTopK = 64;

/// The k largest elements of each row of x [N, D] f32, the largest first, and where they are; of
/// equal ones the first comes first, as argmax() has it. values [N, k] f32, indices [N, k] i32; k
/// is 1 to kMostTopK. Where a row has fewer elements, the rest are minus infinity and -1. In a row
/// that holds a NaN all values are NaN and all indices -1.
HEED_KERNEL(top_k, void(const Tensor& x, int64_t k, Tensor& values, Tensor& indices));

}  // namespace heed::kernels
