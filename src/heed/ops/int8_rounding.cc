#include "heed/ops/int8_rounding.h"

#include <algorithm>
#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/as_f32.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/quantize.h"

namespace heed::ops {
namespace {

/// The same steps as in kernels/matmul_int8.h.
template <typename T>
void round_row(const T* from, T* to, int64_t cols) {
  float most = 0;
  for (int64_t i = 0; i < cols; ++i) most = std::max(most, std::abs(static_cast<float>(from[i])));
  const float scale = most / 127.0f, inverse = 1.0f / scale;
  const float factor = std::isfinite(inverse) ? inverse : 0.0f;
  for (int64_t i = 0; i < cols; ++i)
    to[i] = T(std::nearbyint(static_cast<float>(from[i]) * factor) * scale);
}

template <typename T>
void round_rows(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  parallel_for(x.rows(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      round_row(x.data<T>() + row * cols, y.data<T>() + row * cols, cols);
  });
}

}  // namespace

Tensor rounded_to_int8(const Tensor& x) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  if (x.dtype() == DType::bf16)
    round_rows<bfloat16>(x, y);
  else
    round_rows<float>(x, y);
  return y;
}

Tensor rounded_to_int8(const Parameter& weight, DType dtype) {
  if (weight.value.cols() % block_elements(DType::q8_0) != 0 ||
      !PackedWeight::fits_int8(weight.value.shape()))
    return weight.read(dtype);
  Tensor blocks = Tensor::empty(weight.value.shape(), DType::q8_0);
  kernels::quantize(kernels::as_f32(weight.read(dtype)), blocks);
  Tensor rows = Tensor::empty(weight.value.shape());
  kernels::dequantize(blocks, rows);
  Tensor rounded = rounded_to_int8(rows);
  if (dtype == DType::f32) return rounded;
  Tensor converted = Tensor::empty(rounded.shape(), dtype);
  kernels::convert(rounded, converted);
  return converted;
}

}  // namespace heed::ops
