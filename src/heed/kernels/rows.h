#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y[i] = x[rows[i]]; y [M, D], rows [M], each a valid row of x (the caller checks).
HEED_KERNEL(gather_rows, void(const Tensor& x, std::span<const int32_t> rows, Tensor& y));
/// y[rows[i]] += x[i], in the order of i; a row may occur several times.
HEED_KERNEL(add_rows, void(const Tensor& x, std::span<const int32_t> rows, Tensor& y));

}  // namespace heed::kernels
