#include "heed/kernels/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "heed/kernels/quantize_k.h"
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

/// 1 / scale, or 0 if that is not finite.
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

float level_of(float x, BlockScale by, Levels levels) {
  const float level = std::nearbyint((x - by.minimum) * inverse(by.scale));
  return std::clamp(level, levels.lowest, levels.highest);
}

void try_all(const float* x, const float* importance, Levels levels, Trials& trials) {
  for (size_t trial = 0; trial < trials.count; ++trial) {
    const BlockScale by{trials.scales[trial], trials.minimums[trial]};
    float sum = 0.0f;
    for (size_t i = 0; i < 32; ++i) {
      const float error = x[i] - (level_of(x[i], by, levels) * by.scale + by.minimum);
      sum += importance[i] * error * error;
    }
    trials.errors[trial] = sum;
  }
}

/// Stores the scale of the least error in the block, and returns it.
template <typename Block>
BlockScale set_scale(const float* x, const float* importance, Block& block) {
  constexpr Levels levels = kLevels<Block>;
  constexpr DType dtype = dtype_of<Block>;
  const auto try_them = [&](Trials& trials) { try_all(x, importance, levels, trials); };
  const float largest = largest_magnitude(x, dtype);
  BlockScale best;
  if constexpr (Block::kTraits.has_minimum) {
    const auto [least, greatest] = std::minmax_element(x, x + 32);
    checked_scale((*greatest - *least) / (levels.highest - levels.lowest), dtype);
    checked_scale(*least, dtype);
    best = search_scale_and_minimum<Block>(*least, *greatest, try_them);
    block.minimum = float16(best.minimum);
  } else {
    const float* extreme =
        std::find_if(x, x + 32, [&](float v) { return std::fabs(v) == largest; });
    checked_scale(*extreme / levels.lowest, dtype);
    best = search_scale<Block>(*extreme, try_them);
  }
  block.scale = float16(best.scale);
  return best;
}

template <typename Block>
void encode(const float* x, const float* importance, Block& block) {
  const BlockScale by = set_scale(x, importance, block);
  std::array<int8_t, 32> quants;
  for (size_t i = 0; i < 32; ++i)
    quants[i] = static_cast<int8_t>(level_of(x[i], by, kLevels<Block>));
  block.set_quants(quants);
}

template <typename Block>
requires(Block::kTraits.has_sub_scales()) void encode(const float* x, const float* importance,
                                                      Block& block) {
  constexpr DType dtype = dtype_of<Block>;
  for (int64_t i = 0; i < Block::kElements; i += 32) largest_magnitude(x + i, dtype);  // finite
  round_sub_blocks(x, importance, block, try_all);
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

}  // namespace

void dequantize(const Tensor& x, Tensor& y) {
  for (int64_t row = 0; row < x.rows(); ++row) widen_row(x, row, y.data<float>() + row * x.cols());
}

void dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  for (size_t n = 0; n < rows.size(); ++n)
    widen_row(x, rows[n], y.data<float>() + static_cast<int64_t>(n) * x.cols());
}

void quantize_weighted(const Tensor& x, const Tensor& importance, Tensor& y) {
  const std::vector<float> equal(static_cast<size_t>(x.cols()), 1.0f);
  const float* weights = importance.defined() ? importance.data<float>() : equal.data();
  std::vector<float> wide(static_cast<size_t>(x.cols()));
  visit_stored(y.dtype(), [&](auto stored) {
    using T = decltype(stored);
    if constexpr (is_written(dtype_of<T>))
      for (int64_t row = 0; row < x.rows(); ++row) {
        widen_row(x, row, wide.data());
        encode_row(wide.data(), weights, x.cols(),
                   reinterpret_cast<T*>(y.raw() + row * y.row_bytes()));
      }
    else
      fail("heed reads {}, but does not write it", name_of(y.dtype()));
  });
}

void quantize_gptq(const GptqBlock& block, Tensor& y, Tensor& errors) {
  visit_block(y.dtype(), [&](auto stored) {
    using Block = decltype(stored);
    if constexpr (searches_scales(Block::kTraits))
      for (int64_t row = 0; row < block.x.rows(); ++row)
        quantize_gptq_row(block, row, set_scale<Block>, y, errors);
    else
      fail("GPTQ rounds to types of fewer than 8 bits, found {}", name_of(y.dtype()));
  });
}

}  // namespace heed::kernels::reference
