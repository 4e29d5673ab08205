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

namespace cpu {
void copy_columns(const Tensor& x, const ColumnsOptions& options, Tensor& y);
void sum_heads(const Tensor& x, const ColumnsOptions& options, Tensor& y);
}  // namespace cpu

namespace reference {
void copy_columns(const Tensor& x, const ColumnsOptions& options, Tensor& y);
void sum_heads(const Tensor& x, const ColumnsOptions& options, Tensor& y);
}  // namespace reference

/// Copies the columns of every head from x to y, row by row; one dtype. The other columns of y keep
/// their values.
inline constexpr Kernel<void(const Tensor& x, const ColumnsOptions& options, Tensor& y)>
    copy_columns{cpu::copy_columns, reference::copy_columns};
/// y[:, to.begin ...] = the sum of x's columns over the heads, in their order, in f32: the gradient
/// of copy_columns where heads share columns. to.stride is 0.
inline constexpr Kernel<void(const Tensor& x, const ColumnsOptions& options, Tensor& y)> sum_heads{
    cpu::sum_heads, reference::sum_heads};

}  // namespace heed::kernels
