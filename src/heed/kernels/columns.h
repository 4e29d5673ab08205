#pragma once

#include <cstdint>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// Where a tensor [N, C] keeps `width` columns of each head: head h's begin at begin + h * step.
struct HeadColumns {
  int64_t begin = 0;
  int64_t step = 0;  // 0: all heads share them
};

struct ColumnsOptions {
  int64_t n_heads = 1;
  int64_t width = 0;
  HeadColumns from = {}, to = {};
  /// Add to what y holds instead of replacing it.
  bool accumulate = false;
};

/// y's columns of every head = those of x, row by row; one dtype. y's other columns stay as they
/// are.
HEED_KERNEL(void, copy_columns, (const Tensor& x, const ColumnsOptions& options, Tensor& y),
            (x, options, y))
/// y[:, to.begin ...] = the sum over the heads of x's columns, in their order, in f32 (to.step is
/// 0): what copying shared columns does to gradients.
HEED_KERNEL(void, sum_heads, (const Tensor& x, const ColumnsOptions& options, Tensor& y),
            (x, options, y))

}  // namespace heed::kernels
