#include "heed/kernels/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/grain.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/quantize_k.h"
#include "heed/kernels/quantize_search.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/quantize.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Range {
  float least, greatest;
};

/// The range of 32 elements. Throws Error if one is not finite.
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

/// 1 / scale, or 0 if that is not finite.
HWY_INLINE V32 inverse(V32 scale) {
  const V32 result = hn::Div(set(1.0f), scale);
  return hn::IfThenElseZero(hn::IsFinite(result), result);
}

HWY_INLINE V32 level_of(V32 x, V32 minimum, V32 factor, Levels levels) {
  const V32 level = hn::Round(hn::Mul(hn::Sub(x, minimum), factor));
  return hn::Min(hn::Max(level, set(levels.lowest)), set(levels.highest));
}

/// Each lane is a trial, so that the sums are taken in the same order on every machine.
void try_all(const float* x, const float* importance, Levels levels, Trials& trials) {
  const F32 d;
  for (size_t first = 0; first < trials.count; first += hn::Lanes(d)) {
    const V32 scale = load(d, trials.scales.data() + first);
    const V32 minimum = load(d, trials.minimums.data() + first), factor = inverse(scale);
    V32 sum = set(0.0f);
    for (int64_t i = 0; i < kUnit; ++i) {
      const V32 level = level_of(set(x[i]), minimum, factor, levels);
      const V32 error = hn::Sub(set(x[i]), hn::Add(hn::Mul(level, scale), minimum));
      sum = hn::Add(sum, hn::Mul(hn::Mul(set(importance[i]), error), error));
    }
    store(d, sum, trials.errors.data() + first);
  }
}

/// The element of the largest magnitude; ties go to the first.
float extreme_of(const float* x, const Range& range) {
  if (-range.least == range.greatest)
    return *std::find_if(x, x + kUnit, [&](float v) { return std::fabs(v) == range.greatest; });
  return -range.least > range.greatest ? range.least : range.greatest;
}

/// Stores the scale of the least error in the block, and returns it.
template <typename Block>
BlockScale set_scale(const float* x, const float* importance, Block& block) {
  constexpr Levels levels = kLevels<Block>;
  constexpr DType dtype = dtype_of<Block>;
  const auto try_them = [&](Trials& trials) { try_all(x, importance, levels, trials); };
  const Range range = range_of(x, dtype);
  BlockScale best;
  if constexpr (Block::kTraits.has_minimum) {
    checked_scale((range.greatest - range.least) / (levels.highest - levels.lowest), dtype);
    checked_scale(range.least, dtype);
    best = search_scale_and_minimum<Block>(range.least, range.greatest, try_them);
    block.minimum = float16(best.minimum);
  } else {
    const float extreme = extreme_of(x, range);
    checked_scale(extreme / levels.lowest, dtype);
    best = search_scale<Block>(extreme, try_them);
  }
  block.scale = float16(best.scale);
  return best;
}

/// To the nearest integer, halves away from zero.
HWY_INLINE V32 round_away(V32 value) {
  const V32 whole = hn::Trunc(value);
  const auto up = hn::Ge(hn::Abs(hn::Sub(value, whole)), set(0.5f));
  return hn::Add(whole, hn::IfThenElseZero(up, hn::CopySign(set(1.0f), value)));
}

/// Rounds 32 elements; see quantize_weighted().
template <typename Block>
void encode(const float* x, const float* importance, Block& block) {
  const BlockScale by = set_scale(x, importance, block);
  const V32 factor = inverse(set(by.scale)), minimum = set(by.minimum);
  HWY_ALIGN std::array<int8_t, kUnit> quants;
  for (int64_t i = 0; i < kUnit; i += kVectorLanes) {
    const V32 level = level_of(load(F32(), x + i), minimum, factor, kLevels<Block>);
    hn::StoreU(hn::DemoteTo(I8Quarter(), hn::ConvertTo(I32(), level)), I8Quarter(),
               quants.data() + i);
  }
  block.set_quants(quants);
}

/// Rounds 256 elements.
template <typename Block>
requires(Block::kTraits.has_sub_scales()) void encode(const float* x, const float* importance,
                                                      Block& block) {
  constexpr DType dtype = dtype_of<Block>;
  for (int64_t i = 0; i < Block::kElements; i += kUnit) range_of(x + i, dtype);  // all are finite
  round_sub_blocks(x, importance, block, try_all);
}

/// As GGML does: no search.
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

/// Converts row `row` of x to f32; `to` has room for a multiple of 32.
void widen(const Tensor& x, int64_t row, float* to) {
  visit_stored(x.dtype(), [&](auto stored) {
    widen_row(reinterpret_cast<const decltype(stored)*>(x.raw() + row * x.row_bytes()), 0, x.cols(),
              to);
  });
}

/// Memory for a row of x in f32.
Tensor row_of(const Tensor& x) { return Tensor::empty({round_up(x.cols(), kUnit)}); }

}  // namespace

void dequantize(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  float* to = y.data<float>();
  parallel_for(x.rows(), grain_rows(kLightGrain, cols), [&](int64_t begin, int64_t end) {
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
  constexpr size_t kAhead = 2;  // rows, which are anywhere in memory
  Tensor wide = row_of(x);
  for (size_t n = 0; n < rows.size(); ++n) {
    if (n + kAhead < rows.size())
      cpu::prefetch_to_level2(x.raw() + rows[n + kAhead] * x.row_bytes(), x.row_bytes());
    widen(x, rows[n], wide.data<float>());
    std::copy_n(wide.data<float>(), cols, to + static_cast<int64_t>(n) * cols);
  }
}

void quantize_weighted(const Tensor& x, const Tensor& importance, Tensor& y) {
  const int64_t cols = x.cols();
  const std::vector<float> equal(importance.defined() ? 0 : static_cast<size_t>(cols), 1.0f);
  const float* weights = importance.defined() ? importance.data<float>() : equal.data();
  const bool searches = !is_plain(y.dtype()) && y.dtype() != DType::q8_0;
  const int64_t grain = searches ? kHeavyGrain / 16 : kLightGrain;
  visit_stored(y.dtype(), [&](auto stored) {
    using T = decltype(stored);
    if constexpr (is_written(dtype_of<T>))
      parallel_for(x.rows(), grain_rows(grain, cols), [&](int64_t begin, int64_t end) {
        Tensor wide = row_of(x);
        for (int64_t row = begin; row < end; ++row) {
          widen(x, row, wide.data<float>());
          encode_row(wide.data<float>(), weights, cols,
                     reinterpret_cast<T*>(y.raw() + row * y.row_bytes()));
        }
      });
    else
      fail("heed reads {}, but does not write it", name_of(y.dtype()));
  });
}

void quantize_gptq(const GptqBlock& block, Tensor& y, Tensor& errors) {
  visit_block(y.dtype(), [&](auto stored) {
    using Block = decltype(stored);
    if constexpr (searches_scales(Block::kTraits))
      parallel_for(block.x.rows(), 64, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row)
          quantize_gptq_row(block, row, set_scale<Block>, y, errors);
      });
    else
      fail("GPTQ rounds to types of fewer than 8 bits, found {}", name_of(y.dtype()));
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
