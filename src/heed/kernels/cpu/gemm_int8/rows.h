#pragma once

#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels::cpu {

/// Rows of 8-bit integers, each with a scale: per token of activations, per channel of a weight.
struct Int8Rows {
  std::byte* quants;
  RowQuants type;
  int64_t row_bytes;  // the stride: K, padded with zeros, and perhaps more
  float* scales;
};

/// Quantises rows [begin, end) of x, which are f32 or bf16.
void quantize_int8(const Tensor& x, int64_t begin, int64_t end, const Int8Rows& to);

/// Exact dot products that become elements of c.
struct Int8Dots {
  const int32_t* dots;  // [rows, 32]
  int64_t rows, cols;   // cols: at most 32
  const float* row_scales;
  const float* col_scales;
  const float* bias;  // may be null
};

/// Writes c's elements from (row, col) on.
void finish_int8(const Int8Dots& dots, int64_t row, int64_t col, Tensor& c);

}  // namespace heed::kernels::cpu
