#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// y = x in f32, exactly; x of any stored dtype (q6_K: products with its scales are rounded once).
/// Throws Error when x is i32.
HEED_KERNEL(void, dequantize, (const Tensor& x, Tensor& y), (x, y))

/// y[n] = row rows[n] of x's matrix view, likewise; y [rows.size(), x.cols()] f32. The caller
/// checks that the rows exist.
HEED_KERNEL(void, dequantize_rows, (const Tensor& x, std::span<const int32_t> rows, Tensor& y),
            (x, rows, y))

/// y = x in y's dtype: f32, bf16, f16, q8_0, q4_0 or q4_1, which of x's shape must be able to hold
/// whole blocks; x of any stored dtype. Rounds as GGML's quantize_row_*_ref do: the same bytes.
/// Throws Error when a block holds a value that is not finite or too large for its scale, and on
/// any other dtype.
HEED_KERNEL(void, quantize, (const Tensor& x, Tensor& y), (x, y))

}  // namespace heed::kernels
