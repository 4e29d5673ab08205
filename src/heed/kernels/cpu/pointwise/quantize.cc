#include "heed/kernels/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/pieces.h"
#include "heed/kernels/quantize_search.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/quantize.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

float16 checked_scale(float scale, DType dtype) {
  const float16 half(scale);
  require(std::isfinite(static_cast<float>(half)),
          "a weight that is not finite, or too large, cannot be stored as {}", name_of(dtype));
  return half;
}

struct Range {
  float least, greatest;
};

/// Of 32 elements; throws Error when one is not finite.
Range range_of(const float* x, DType dtype) {
  const F32 d;
  V32 least = load(d, x), greatest = least;
  bool finite = true;
  for (int64_t i = 0; i < kUnitVectors; ++i) {
    const V32 value = load(d, x + i * kVectorLanes);
    finite = finite && hn::AllTrue(d, hn::IsFinite(value));
    least = hn::Min(least, value);
    greatest = hn::Max(greatest, value);
  }
  require(finite, "a weight that is not finite cannot be stored as {}", name_of(dtype));
  return {hn::GetLane(hn::MinOfLanes(d, least)), hn::GetLane(hn::MaxOfLanes(d, greatest))};
}

/// 1 / scale, or 0 when there is no such number.
HWY_INLINE V32 inverse(V32 scale) {
  const V32 result = hn::Div(set(1.0f), scale);
  return hn::IfThenElseZero(hn::IsFinite(result), result);
}

/// The nearest of the 16 levels from `lowest` on.
HWY_INLINE V32 level_of(V32 x, V32 minimum, V32 factor, float lowest) {
  const V32 level = hn::Round(hn::Mul(hn::Sub(x, minimum), factor));
  return hn::Min(hn::Max(level, set(lowest)), set(lowest + 15.0f));
}

/// A lane is a trial: so the sums are taken in the same order on every machine.
void try_all(const float* x, const float* importance, float lowest, Trials& trials) {
  const F32 d;
  for (size_t first = 0; first < trials.count; first += hn::Lanes(d)) {
    const V32 scale = load(d, trials.scales.data() + first);
    const V32 minimum = load(d, trials.minimums.data() + first), factor = inverse(scale);
    V32 sum = set(0.0f);
    for (int64_t i = 0; i < kUnit; ++i) {
      const V32 level = level_of(set(x[i]), minimum, factor, lowest);
      const V32 error = hn::Sub(set(x[i]), hn::Add(hn::Mul(level, scale), minimum));
      sum = hn::Add(sum, hn::Mul(hn::Mul(set(importance[i]), error), error));
    }
    store(d, sum, trials.errors.data() + first);
  }
}

/// The quants [0, 15], two in a byte.
void put_nibbles(const float* x, BlockScale by, float lowest, uint8_t* to) {
  const F32 d;
  const V32 factor = inverse(set(by.scale));
  const auto quant = [&](const float* from) HEED_LANES {
    const V32 level = level_of(load(d, from), set(by.minimum), factor, lowest);
    return hn::ConvertTo(I32(), hn::Sub(level, set(lowest)));
  };
  for (int64_t i = 0; i < kHalfUnit; ++i) {
    const float* from = x + i * kVectorLanes;
    const auto low = quant(from), high = quant(from + 16);
    const auto both = hn::Or(low, hn::ShiftLeft<4>(high));
    hn::StoreU(hn::DemoteTo(U8Quarter(), both), U8Quarter(), to + i * kVectorLanes);
  }
}

/// The scale of the least error, which the block is given.
BlockScale set_scale(const float* x, const float* importance, BlockQ4_0& block) {
  const Range range = range_of(x, DType::q4_0);
  // The first of those with the largest magnitude, whichever its sign is.
  float extreme = -range.least > range.greatest ? range.least : range.greatest;
  if (-range.least == range.greatest)
    extreme = *std::find_if(x, x + kUnit, [&](float v) { return std::fabs(v) == range.greatest; });
  checked_scale(extreme / -8.0f, DType::q4_0);
  const BlockScale best = search_q4_0(
      extreme, [&](Trials& trials) { try_all(x, importance, kLowestLevel<BlockQ4_0>, trials); });
  block.scale = float16(best.scale);
  return best;
}

BlockScale set_scale(const float* x, const float* importance, BlockQ4_1& block) {
  const Range range = range_of(x, DType::q4_1);
  checked_scale((range.greatest - range.least) / 15.0f, DType::q4_1);
  checked_scale(range.least, DType::q4_1);
  const BlockScale best = search_q4_1(range.least, range.greatest, [&](Trials& trials) {
    try_all(x, importance, kLowestLevel<BlockQ4_1>, trials);
  });
  block.scale = float16(best.scale);
  block.minimum = float16(best.minimum);
  return best;
}

template <typename Block>
void encode(const float* x, const float* importance, Block& block) {
  const BlockScale scale = set_scale(x, importance, block);
  put_nibbles(x, scale, kLowestLevel<Block>, block.quants.data());
}

/// To the nearest integer, halves away from zero.
HWY_INLINE V32 round_away(V32 value) {
  const V32 whole = hn::Trunc(value);
  const auto up = hn::Ge(hn::Abs(hn::Sub(value, whole)), set(0.5f));
  return hn::Add(whole, hn::IfThenElseZero(up, hn::CopySign(set(1.0f), value)));
}

void encode(const float* x, const float* /*importance*/, BlockQ8_0& block) {
  const Range range = range_of(x, DType::q8_0);
  const float scale = std::max({0.0f, -range.least, range.greatest}) / 127.0f;
  const V32 factor = inverse(set(scale));
  block.scale = checked_scale(scale, DType::q8_0);
  for (int64_t i = 0; i < kUnitVectors; ++i) {
    const V32 value = round_away(hn::Mul(load(F32(), x + i * kVectorLanes), factor));
    const auto quant = hn::DemoteTo(I8Quarter(), hn::ConvertTo(I32(), value));
    hn::StoreU(quant, I8Quarter(), block.quants.data() + i * kVectorLanes);
  }
}

template <typename T>
void encode_row(const float* x, const float* importance, int64_t cols, T* to) {
  if constexpr (!is_plain(dtype_of<T>))
    for (int64_t i = 0; i < cols; i += T::kElements) encode(x + i, importance + i, *to++);
  else if constexpr (std::is_same_v<T, float16>)
    for (int64_t i = 0; i < cols; ++i) to[i] = float16(x[i]);
  else
    for_lanes(0, cols, [&](auto at) HEED_LANES { store(load(x, at), to, at); });
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

/// Row `row` of x, with room for what goes beyond its end up to a multiple of 32.
void widen(const Tensor& x, int64_t row, float* to) {
  visit_stored(x.dtype(), [&](auto stored) {
    widen_row(reinterpret_cast<const decltype(stored)*>(x.raw() + row * x.row_bytes()), 0, x.cols(),
              to);
  });
}

/// Room for a row of x in f32.
Tensor row_of(const Tensor& x) { return Tensor::empty({round_up(x.cols(), kUnit)}); }

}  // namespace

void dequantize(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  float* to = y.data<float>();
  parallel_for(x.rows(), piece_rows(kLightPiece, cols), [&](int64_t begin, int64_t end) {
    Tensor wide = row_of(x);
    for (int64_t row = begin; row < end; ++row) {
      widen(x, row, wide.data<float>());
      std::copy_n(wide.data<float>(), cols, to + row * cols);
    }
  });
}

void dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  const int64_t cols = x.cols();
  float* to = y.data<float>();
  Tensor wide = row_of(x);
  for (size_t n = 0; n < rows.size(); ++n) {
    widen(x, rows[n], wide.data<float>());
    std::copy_n(wide.data<float>(), cols, to + static_cast<int64_t>(n) * cols);
  }
}

void quantize_weighted(const Tensor& x, const Tensor& importance, Tensor& y) {
  const int64_t cols = x.cols();
  require(y.dtype() != DType::q6_K, "heed reads q6_K, but does not write it");
  const std::vector<float> equal(importance.defined() ? 0 : static_cast<size_t>(cols), 1.0f);
  const float* weights = importance.defined() ? importance.data<float>() : equal.data();
  const int64_t piece =
      y.dtype() == DType::q4_0 || y.dtype() == DType::q4_1 ? kHeavyPiece / 16 : kLightPiece;
  parallel_for(x.rows(), piece_rows(piece, cols), [&](int64_t begin, int64_t end) {
    Tensor wide = row_of(x);
    visit_stored(y.dtype(), [&](auto stored) {
      using T = decltype(stored);
      if constexpr (!std::is_same_v<T, BlockQ6_K>)
        for (int64_t row = begin; row < end; ++row) {
          widen(x, row, wide.data<float>());
          encode_row(wide.data<float>(), weights, cols,
                     reinterpret_cast<T*>(y.raw() + row * y.row_bytes()));
        }
    });
  });
}

void quantize_gptq(const GptqBlock& block, Tensor& y, Tensor& errors) {
  const bool has_minimum = y.dtype() == DType::q4_1;
  parallel_for(block.x.rows(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      has_minimum ? quantize_gptq_row<BlockQ4_1>(block, row, y, errors)
                  : quantize_gptq_row<BlockQ4_0>(block, row, y, errors);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(dequantize);
void cpu::dequantize(const Tensor& x, Tensor& y) { HWY_DYNAMIC_DISPATCH(dequantize)(x, y); }
HWY_EXPORT(dequantize_rows);
void cpu::dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(dequantize_rows)(x, rows, y);
}
HWY_EXPORT(quantize_weighted);
void cpu::quantize_weighted(const Tensor& x, const Tensor& importance, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(quantize_weighted)(x, importance, y);
}
HWY_EXPORT(quantize_gptq);
void cpu::quantize_gptq(const GptqBlock& block, Tensor& y, Tensor& errors) {
  HWY_DYNAMIC_DISPATCH(quantize_gptq)(block, y, errors);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
