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
/// whole blocks; x of any stored dtype. q8_0 is rounded as GGML's quantize_row_q8_0_ref does: the
/// same bytes. The scales of blocks of 4 bits are searched for (kernels/quantize_search.h): the sum
/// of importance[k] * (x[n, k] - y[n, k])^2 over a block is at most what GGML's rounding leaves,
/// mostly far less. importance [x.cols()] f32, not negative, or absent: all columns count the same.
/// The same bytes on every machine. Throws Error when a block holds a value that is not finite or
/// too large for its scale, and on any other dtype.
HEED_KERNEL(void, quantize, (const Tensor& x, Tensor& y, const Tensor& importance = {}),
            (x, y, importance))

/// Columns that are rounded together: a block of each row.
inline constexpr int64_t kStepColumns = 32;

/// One step of rounding a weight column by column, errors being made good in the columns behind
/// (format/feedback.h).
struct QuantizeStep {
  const Tensor& x;           // [N, K] f32
  int64_t begin;             // the first of 32 columns
  const Tensor& added;       // [N, 32] f32: what the errors of all columns before add to these
  const Tensor& importance;  // [K] f32, as in quantize()
  const Tensor& feedback;  // [32, 32] f32: of the error of column j, what is added to column i > j
};

/// Sets the step's blocks of y [N, K], q4_0 or q4_1: scales searched for with what is added, the
/// columns then rounded in their order. errors [32, N] f32: x less what is stored. The same bits on
/// every machine. Throws Error as quantize() does.
HEED_KERNEL(void, quantize_step, (const QuantizeStep& step, Tensor& y, Tensor& errors),
            (step, y, errors))

}  // namespace heed::kernels
