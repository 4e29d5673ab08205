#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Whether quantize() writes a dtype: all but i32, q2_K, q3_K and those with a codebook.
constexpr bool is_written(DType dtype) {
  return dtype != DType::i32 && dtype != DType::q2_K && dtype != DType::q3_K &&
         !traits_of(dtype).has_codebook();
}

/// Columns that GPTQ rounds at a time: one block of each row.
inline constexpr int64_t kGptqColumns = 32;

/// One block of columns of a weight, to be rounded by GPTQ (Frantar et al. 2022): column by column,
/// the error of each compensated in the columns after it.
struct GptqBlock {
  const Tensor& x;             // [N, K] f32
  int64_t begin;               // the first of the 32 columns
  const Tensor& compensation;  // [N, 32] f32: added to these columns for the errors of earlier ones
  const Tensor& importance;    // [K] f32, as in quantize_weighted()
  /// [32, 32] f32: element [j, i] times the error of column j is added to column i > j.
  const Tensor& feedback;
};

/// y = x in f32, exactly; x of any stored dtype (products with sub-scales are rounded once). Throws
/// Error if x is i32.
HEED_KERNEL(dequantize, void(const Tensor& x, Tensor& y));

/// y[n] = row rows[n] of x's matrix view, converted likewise; y [rows.size(), x.cols()] f32. The
/// caller checks that the rows exist.
HEED_KERNEL(dequantize_rows, void(const Tensor& x, std::span<const int32_t> rows, Tensor& y));

/// y = x in y's dtype: is_written() must hold for it, and x's rows must be whole blocks of it; x
/// may have any stored dtype. The bytes are the same on every machine. Throws Error if a block
/// holds a value that is not finite or too large for its scale, and for any other dtype.
///
/// q8_0 is rounded as GGML's quantize_row_q8_0_ref does: the same bytes. The scales of blocks of
/// fewer bits are searched for (kernels/quantize_search.h): over a block, the sum of
/// importance[k] * (x[n, k] - y[n, k])^2 is at most that of GGML's rounding. importance [x.cols()]
/// f32, not negative; undefined: all columns count the same.
HEED_HOST_KERNEL(quantize_weighted, void(const Tensor& x, const Tensor& importance, Tensor& y));

/// The same where all columns count the same.
inline void quantize(const Tensor& x, Tensor& y) { quantize_weighted(x, {}, y); }

/// Writes those blocks of y [N, K], a type of fewer than 8 bits, that hold the given columns:
/// searches for scales with the compensation added, then rounds the columns in their order. errors
/// [32, N] f32: x minus what is stored. The bits are the same on every machine. Throws Error as
/// quantize_weighted() does.
HEED_HOST_KERNEL(quantize_gptq, void(const GptqBlock& block, Tensor& y, Tensor& errors));

}  // namespace heed::kernels
