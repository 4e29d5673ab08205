#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y[i] = x[rows[i]]: y [M, D], rows [M], each below x's number of rows (the caller checks).
HEED_KERNEL(void, gather_rows, (const Tensor& x, std::span<const int32_t> rows, Tensor& y),
            (x, rows, y))
/// y[rows[i]] += x[i], in the order of i; a row may be named several times.
HEED_KERNEL(void, add_rows, (const Tensor& x, std::span<const int32_t> rows, Tensor& y),
            (x, rows, y))

}  // namespace heed::kernels
