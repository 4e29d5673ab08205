#include "heed/kernels/quantize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/kernels/reference/stored_rows.h"

namespace heed::kernels::reference {
namespace {

void widen_row(const Tensor& x, int64_t row, float* to) {
  visit_stored(x.dtype(), [&](auto stored) {
    using T = decltype(stored);
    const auto* from = reinterpret_cast<const T*>(x.raw() + row * x.row_bytes());
    for (int64_t i = 0; i < x.cols(); ++i) to[i] = stored_element(from, i);
  });
}

float16 checked_scale(float scale, DType dtype) {
  const float16 half(scale);
  require(std::isfinite(static_cast<float>(half)),
          "a weight that is not finite, or too large, cannot be stored as {}", name_of(dtype));
  return half;
}

/// 1 / scale, or 0 when there is no such number.
float inverse(float scale) {
  const float result = 1.0f / scale;
  return std::isfinite(result) ? result : 0.0f;
}

float largest_magnitude(const float* x, DType dtype) {
  float largest = 0.0f;
  for (int64_t i = 0; i < 32; ++i) {
    require(std::isfinite(x[i]), "a weight is {}, which cannot be stored as {}", x[i],
            name_of(dtype));
    largest = std::max(largest, std::fabs(x[i]));
  }
  return largest;
}

uint8_t nibbles(int low, int high) { return static_cast<uint8_t>(low | high << 4); }

void encode(const float* x, BlockQ4_0& block) {
  const float largest = largest_magnitude(x, DType::q4_0);
  // The first of the largest becomes -8, whichever its sign is.
  const float* first = std::find_if(x, x + 32, [&](float v) { return std::fabs(v) == largest; });
  const float scale = *first / -8.0f, factor = inverse(scale);
  block.scale = checked_scale(scale, DType::q4_0);
  const auto quant = [&](float v) {
    return std::clamp(static_cast<int>(v * factor + 8.5f), 0, 15);
  };
  for (size_t i = 0; i < 16; ++i) block.quants[i] = nibbles(quant(x[i]), quant(x[i + 16]));
}

void encode(const float* x, BlockQ4_1& block) {
  largest_magnitude(x, DType::q4_1);
  const auto [least, greatest] = std::minmax_element(x, x + 32);
  const float minimum = *least, scale = (*greatest - minimum) / 15.0f, factor = inverse(scale);
  block.scale = checked_scale(scale, DType::q4_1);
  block.minimum = checked_scale(minimum, DType::q4_1);
  const auto quant = [&](float v) {
    return std::clamp(static_cast<int>((v - minimum) * factor + 0.5f), 0, 15);
  };
  for (size_t i = 0; i < 16; ++i) block.quants[i] = nibbles(quant(x[i]), quant(x[i + 16]));
}

void encode(const float* x, BlockQ8_0& block) {
  const float scale = largest_magnitude(x, DType::q8_0) / 127.0f, factor = inverse(scale);
  block.scale = checked_scale(scale, DType::q8_0);
  for (size_t i = 0; i < 32; ++i)
    block.quants[i] = static_cast<int8_t>(std::clamp(std::round(x[i] * factor), -127.0f, 127.0f));
}

template <typename Block>
void encode_row(const float* x, int64_t cols, Block* to) {
  if constexpr (requires { Block::kElements; }) {
    for (int64_t i = 0; i < cols; i += Block::kElements) encode(x + i, *to++);
  } else {
    for (int64_t i = 0; i < cols; ++i) to[i] = Block(x[i]);
  }
}

}  // namespace

void dequantize(const Tensor& x, Tensor& y) {
  for (int64_t row = 0; row < x.rows(); ++row) widen_row(x, row, y.data<float>() + row * x.cols());
}

void dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  for (size_t n = 0; n < rows.size(); ++n)
    widen_row(x, rows[n], y.data<float>() + static_cast<int64_t>(n) * x.cols());
}

void quantize(const Tensor& x, Tensor& y) {
  require(y.dtype() != DType::q6_K, "heed reads q6_K, but does not write it");
  std::vector<float> wide(static_cast<size_t>(x.cols()));
  visit_stored(y.dtype(), [&](auto stored) {
    using T = decltype(stored);
    if constexpr (!std::is_same_v<T, BlockQ6_K>)
      for (int64_t row = 0; row < x.rows(); ++row) {
        widen_row(x, row, wide.data());
        encode_row(wide.data(), x.cols(), reinterpret_cast<T*>(y.raw() + row * y.row_bytes()));
      }
  });
}

}  // namespace heed::kernels::reference
