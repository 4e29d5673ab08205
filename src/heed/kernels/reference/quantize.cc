#include "heed/kernels/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "heed/kernels/quantize_search.h"
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

/// The nearest of the 16 levels from `lowest` on.
float level_of(float x, BlockScale by, float lowest) {
  const float level = std::nearbyint((x - by.minimum) * inverse(by.scale));
  return std::clamp(level, lowest, lowest + 15.0f);
}

void try_all(const float* x, const float* importance, float lowest, Trials& trials) {
  for (size_t trial = 0; trial < trials.count; ++trial) {
    const BlockScale by{trials.scales[trial], trials.minimums[trial]};
    float sum = 0.0f;
    for (size_t i = 0; i < 32; ++i) {
      const float error = x[i] - (level_of(x[i], by, lowest) * by.scale + by.minimum);
      sum += importance[i] * error * error;
    }
    trials.errors[trial] = sum;
  }
}

void put_nibbles(const float* x, BlockScale by, float lowest, std::array<uint8_t, 16>& quants) {
  const auto quant = [&](float v) { return static_cast<int>(level_of(v, by, lowest) - lowest); };
  for (size_t i = 0; i < 16; ++i)
    quants[i] = static_cast<uint8_t>(quant(x[i]) | quant(x[i + 16]) << 4);
}

/// The scale of the least error, which the block is given.
BlockScale set_scale(const float* x, const float* importance, BlockQ4_0& block) {
  const float largest = largest_magnitude(x, DType::q4_0);
  // The first of the largest, whichever its sign is.
  const float* first = std::find_if(x, x + 32, [&](float v) { return std::fabs(v) == largest; });
  checked_scale(*first / -8.0f, DType::q4_0);
  const BlockScale best = search_q4_0(
      *first, [&](Trials& trials) { try_all(x, importance, kLowestLevel<BlockQ4_0>, trials); });
  block.scale = float16(best.scale);
  return best;
}

BlockScale set_scale(const float* x, const float* importance, BlockQ4_1& block) {
  largest_magnitude(x, DType::q4_1);
  const auto [least, greatest] = std::minmax_element(x, x + 32);
  checked_scale((*greatest - *least) / 15.0f, DType::q4_1);
  checked_scale(*least, DType::q4_1);
  const BlockScale best = search_q4_1(*least, *greatest, [&](Trials& trials) {
    try_all(x, importance, kLowestLevel<BlockQ4_1>, trials);
  });
  block.scale = float16(best.scale);
  block.minimum = float16(best.minimum);
  return best;
}

template <typename Block>
void encode(const float* x, const float* importance, Block& block) {
  const BlockScale scale = set_scale(x, importance, block);
  put_nibbles(x, scale, kLowestLevel<Block>, block.quants);
}

void encode(const float* x, const float* /*importance*/, BlockQ8_0& block) {
  const float scale = largest_magnitude(x, DType::q8_0) / 127.0f, factor = inverse(scale);
  block.scale = checked_scale(scale, DType::q8_0);
  for (size_t i = 0; i < 32; ++i)
    block.quants[i] = static_cast<int8_t>(std::clamp(std::round(x[i] * factor), -127.0f, 127.0f));
}

template <typename Block>
void encode_row(const float* x, const float* importance, int64_t cols, Block* to) {
  if constexpr (requires { Block::kElements; }) {
    for (int64_t i = 0; i < cols; i += Block::kElements) encode(x + i, importance + i, *to++);
  } else {
    for (int64_t i = 0; i < cols; ++i) to[i] = Block(x[i]);
  }
}

template <typename Block>
void quantize_gptq_row(const GptqBlock& columns, int64_t row, Tensor& y, Tensor& errors) {
  const int64_t at = row * columns.x.cols() + columns.begin;
  const float* x = columns.x.data<float>() + at;
  const float* compensation = columns.compensation.data<float>() + row * kGptqColumns;
  std::array<float, kGptqColumns> targets, row_errors;
  for (size_t i = 0; i < targets.size(); ++i) targets[i] = x[i] + compensation[i];
  Block& block = y.data<Block>()[at / kGptqColumns];
  const BlockScale scale =
      set_scale(targets.data(), columns.importance.data<float>() + columns.begin, block);
  round_columns(x, compensation, columns.feedback.data<float>(), scale, block, row_errors.data());
  for (size_t i = 0; i < row_errors.size(); ++i)
    errors.data<float>()[static_cast<int64_t>(i) * errors.cols() + row] = row_errors[i];
}

}  // namespace

void dequantize(const Tensor& x, Tensor& y) {
  for (int64_t row = 0; row < x.rows(); ++row) widen_row(x, row, y.data<float>() + row * x.cols());
}

void dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  for (size_t n = 0; n < rows.size(); ++n)
    widen_row(x, rows[n], y.data<float>() + static_cast<int64_t>(n) * x.cols());
}

void quantize_weighted(const Tensor& x, const Tensor& importance, Tensor& y) {
  require(y.dtype() != DType::q6_K, "heed reads q6_K, but does not write it");
  const std::vector<float> equal(static_cast<size_t>(x.cols()), 1.0f);
  const float* weights = importance.defined() ? importance.data<float>() : equal.data();
  std::vector<float> wide(static_cast<size_t>(x.cols()));
  visit_stored(y.dtype(), [&](auto stored) {
    using T = decltype(stored);
    if constexpr (!std::is_same_v<T, BlockQ6_K>)
      for (int64_t row = 0; row < x.rows(); ++row) {
        widen_row(x, row, wide.data());
        encode_row(wide.data(), weights, x.cols(),
                   reinterpret_cast<T*>(y.raw() + row * y.row_bytes()));
      }
  });
}

void quantize_gptq(const GptqBlock& block, Tensor& y, Tensor& errors) {
  const bool has_minimum = y.dtype() == DType::q4_1;
  for (int64_t row = 0; row < block.x.rows(); ++row)
    has_minimum ? quantize_gptq_row<BlockQ4_1>(block, row, y, errors)
                : quantize_gptq_row<BlockQ4_0>(block, row, y, errors);
}

}  // namespace heed::kernels::reference
