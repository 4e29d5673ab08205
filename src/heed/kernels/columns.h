#pragma once

#include <cstdint>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Where a tensor [N, C] keeps `width` columns of each head: those of head h begin at
/// begin + h * stride.
struct HeadColumns {
  int64_t begin = 0;
  int64_t stride = 0;  // 0: all heads share them
};

struct ColumnsOptions {
  int64_t n_heads = 1;
  int64_t width = 0;
  HeadColumns from = {}, to = {};
  /// Add to what y holds instead of replacing it.
  bool accumulate = false;
};

/// Copies the columns of every head from x to y, row by row; one dtype. The other columns of y keep
/// their values.
HEED_KERNEL(copy_columns, void(const Tensor& x, const ColumnsOptions& options, Tensor& y));
/// y[:, to.begin ...] = the sum of x's columns over the heads, in their order, in f32: the gradient
/// of copy_columns where heads share columns. to.stride is 0.
HEED_KERNEL(sum_heads, void(const Tensor& x, const ColumnsOptions& options, Tensor& y));

}  // namespace heed::kernels
