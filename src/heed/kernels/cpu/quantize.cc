#include "heed/kernels/quantize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/quantize.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/stored-inl.h"

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

/// 1 / scale, or 0 when there is no such number.
float inverse(float scale) {
  const float result = 1.0f / scale;
  return std::isfinite(result) ? result : 0.0f;
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

/// The quants [0, 15] of (x - minimum) * factor + offset, two in a byte.
void put_nibbles(const float* x, Range range, float factor, float offset, uint8_t* to) {
  const F32 d;
  const I32 di;
  const auto quant = [&](const float* from) HEED_LANES {
    const V32 scaled = hn::Mul(hn::Sub(load(d, from), set(range.least)), set(factor));
    const auto number = hn::ConvertTo(di, hn::Add(scaled, set(offset)));
    return hn::Max(hn::Min(number, hn::Set(di, 15)), hn::Zero(di));
  };
  for (int64_t i = 0; i < kHalfUnit; ++i) {
    const float* from = x + i * kVectorLanes;
    const auto low = quant(from), high = quant(from + 16);
    const auto both = hn::Or(low, hn::ShiftLeft<4>(high));
    hn::StoreU(hn::DemoteTo(U8Quarter(), both), U8Quarter(), to + i * kVectorLanes);
  }
}

void encode(const float* x, BlockQ4_0& block) {
  const Range range = range_of(x, DType::q4_0);
  // The first of those with the largest magnitude becomes -8, whichever its sign is.
  float extreme = -range.least > range.greatest ? range.least : range.greatest;
  if (-range.least == range.greatest)
    extreme = *std::find_if(x, x + kUnit, [&](float v) { return std::fabs(v) == range.greatest; });
  const float scale = extreme / -8.0f;
  block.scale = checked_scale(scale, DType::q4_0);
  put_nibbles(x, {0.0f, 0.0f}, inverse(scale), 8.5f, block.quants.data());
}

void encode(const float* x, BlockQ4_1& block) {
  const Range range = range_of(x, DType::q4_1);
  const float scale = (range.greatest - range.least) / 15.0f;
  block.scale = checked_scale(scale, DType::q4_1);
  block.minimum = checked_scale(range.least, DType::q4_1);
  put_nibbles(x, range, inverse(scale), 0.5f, block.quants.data());
}

/// To the nearest integer, halves away from zero.
HWY_INLINE V32 round_away(V32 value) {
  const V32 whole = hn::Trunc(value);
  const auto up = hn::Ge(hn::Abs(hn::Sub(value, whole)), set(0.5f));
  return hn::Add(whole, hn::IfThenElseZero(up, hn::CopySign(set(1.0f), value)));
}

void encode(const float* x, BlockQ8_0& block) {
  const Range range = range_of(x, DType::q8_0);
  const float scale = std::max({0.0f, -range.least, range.greatest}) / 127.0f;
  const V32 factor = set(inverse(scale));
  block.scale = checked_scale(scale, DType::q8_0);
  for (int64_t i = 0; i < kUnitVectors; ++i) {
    const V32 value = round_away(hn::Mul(load(F32(), x + i * kVectorLanes), factor));
    const auto quant = hn::DemoteTo(I8Quarter(), hn::ConvertTo(I32(), value));
    hn::StoreU(quant, I8Quarter(), block.quants.data() + i * kVectorLanes);
  }
}

template <typename T>
void encode_row(const float* x, int64_t cols, T* to) {
  if constexpr (!is_plain(dtype_of<T>))
    for (int64_t i = 0; i < cols; i += T::kElements) encode(x + i, *to++);
  else if constexpr (std::is_same_v<T, float16>)
    for (int64_t i = 0; i < cols; ++i) to[i] = float16(x[i]);
  else
    for_lanes(0, cols, [&](auto at) HEED_LANES { store(load(x, at), to, at); });
}

/// Row `row` of x, with room for what goes beyond its end up to a multiple of 32.
void widen(const Tensor& x, int64_t row, float* to) {
  visit_stored(x.dtype(), [&](auto stored) {
    widen_row(reinterpret_cast<const decltype(stored)*>(x.raw() + row * x.row_bytes()), 0, x.cols(),
              to);
  });
}

std::vector<float> row_of(const Tensor& x) {
  return std::vector<float>(static_cast<size_t>((x.cols() + kUnit - 1) / kUnit * kUnit));
}

}  // namespace

void dequantize(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  float* to = y.data<float>();
  parallel_for(x.rows(), piece_rows(kLightPiece, cols), [&](int64_t begin, int64_t end) {
    std::vector<float> wide = row_of(x);
    for (int64_t row = begin; row < end; ++row) {
      widen(x, row, wide.data());
      std::copy_n(wide.data(), cols, to + row * cols);
    }
  });
}

void dequantize_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  const int64_t cols = x.cols();
  float* to = y.data<float>();
  std::vector<float> wide = row_of(x);
  for (size_t n = 0; n < rows.size(); ++n) {
    widen(x, rows[n], wide.data());
    std::copy_n(wide.data(), cols, to + static_cast<int64_t>(n) * cols);
  }
}

void quantize(const Tensor& x, Tensor& y) {
  const int64_t cols = x.cols();
  require(y.dtype() != DType::q6_K, "heed reads q6_K, but does not write it");
  parallel_for(x.rows(), piece_rows(kLightPiece, cols), [&](int64_t begin, int64_t end) {
    std::vector<float> wide = row_of(x);
    visit_stored(y.dtype(), [&](auto stored) {
      using T = decltype(stored);
      if constexpr (!std::is_same_v<T, BlockQ6_K>)
        for (int64_t row = begin; row < end; ++row) {
          widen(x, row, wide.data());
          encode_row(wide.data(), cols, reinterpret_cast<T*>(y.raw() + row * y.row_bytes()));
        }
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_CPU_KERNEL(void, dequantize, (const Tensor& x, Tensor& y), (x, y))
HEED_CPU_KERNEL(void, dequantize_rows, (const Tensor& x, std::span<const int32_t> rows, Tensor& y),
                (x, rows, y))
HEED_CPU_KERNEL(void, quantize, (const Tensor& x, Tensor& y), (x, y))

}  // namespace heed::kernels
#endif  // HWY_ONCE
