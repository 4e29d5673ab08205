// What surrounds integer products: rows are quantised before, dot products are scaled after.
#include "heed/kernels/cpu/gemm_int8/rows.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/gemm_int8/rows.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

using cpu::Int8Dots;
using cpu::Int8Rows;
using cpu::kInt8Cols;

using I32 = hn::RebindToSigned<F32>;
using U8Quarter = hn::Rebind<uint8_t, F32>;
using U16Half = hn::Rebind<uint16_t, F32>;
using VI32 = hn::Vec<I32>;

/// Added to a number of magnitude below 2^22, it rounds to the nearest integer, ties to even, whose
/// low 16 bits are the lowest of the sum.
constexpr float kRounds = 12582912.0f;  // 1.5 * 2^23

/// The largest magnitude. The bits of f32 magnitudes compare like integers, and what is not finite
/// is largest.
template <typename T>
HWY_INLINE float largest_magnitude(const T* x, int64_t n) {
  const I32 d;
  const auto step = [&](VI32 largest, auto at) HEED_LANES {
    const VI32 magnitude = hn::And(hn::BitCast(d, load(x, at)), hn::Set(d, 0x7fffffff));
    return hn::Max(largest, magnitude);
  };
  const auto join = [](VI32 a, VI32 b) HEED_LANES { return hn::Max(a, b); };
  const VI32 largest = hn::MaxOfLanes(d, fold_lanes(n, hn::Zero(d), step, join));
  return hn::GetLane(hn::BitCast(F32(), largest));
}

/// Stores the low bits of integers as quants of type `D`.
template <typename D>
HWY_INLINE void store_quants(V32 rounded, hn::TFromD<D>* to) {
  hn::StoreU(hn::TruncateTo(D(), hn::BitCast(U32(), rounded)), D(), to);
}

/// Returns the scale. `bias` is added to each quant, of type `D`. There is room for a vector after
/// the row.
template <typename D, typename T>
HWY_INLINE float quantize_row(const T* x, int64_t n, int64_t depth, int bias, std::byte* row) {
  auto* const to = reinterpret_cast<hn::TFromD<D>*>(row);
  const V32 rounds = set(kRounds + static_cast<float>(bias));
  const float largest = largest_magnitude(x, n), scale = largest / 127.0f, inverse = 1.0f / scale;
  const bool finite = std::isfinite(largest);
  const bool useful = finite && std::isfinite(inverse);  // else all are zeros
  std::fill(to + n, to + depth, hn::TFromD<D>{0});
  if (useful)
    for_lanes(0, n, [&](auto at) HEED_LANES {
      hwy::Prefetch(x + n + at.index);  // the next row
      store_quants<D>(hn::Add(hn::Mul(load(x, at), set(inverse)), rounds), to + at.index);
    });
  else
    std::fill(to, to + n, static_cast<hn::TFromD<D>>(bias));
  return useful ? scale : finite ? 0.0f : std::numeric_limits<float>::quiet_NaN();
}

/// `from` is a copy that writing to c cannot change, so that its numbers stay in registers.
template <typename T>
HWY_INLINE void finish_columns(const Int8Dots from, int64_t cols, T* to, int64_t stride) {
  for (int64_t r = 0; r < from.rows; ++r, to += stride) {
    const V32 row_scale = set(from.row_scales[r]);
    const int32_t* dots = from.dots + r * kInt8Cols;
    for_lanes(0, cols, [&](auto at) HEED_LANES {
      const V32 dot = hn::ConvertTo(F32(), hn::Load(I32(), dots + at.index));
      V32 value = hn::Mul(dot, hn::Mul(row_scale, load(from.col_scales, at)));
      if (from.bias) value = hn::Add(value, load(from.bias, at));
      store(value, to, at);
    });
  }
}

template <typename T>
void finish(const Int8Dots& from, T* to, int64_t stride) {
  if (from.cols == kInt8Cols)
    finish_columns(from, kInt8Cols, to, stride);  // a constant: without a loop
  else
    finish_columns(from, from.cols, to, stride);
}

}  // namespace

void quantize_int8(const Tensor& x, int64_t begin, int64_t end, const Int8Rows& to) {
  const int64_t cols = x.cols(), depth = cpu::Int8Panel::depth_of(cols);
  const int bias = to.type == cpu::RowQuants::biased ? cpu::kInt8Bias : 0;
  visit_floating(x.dtype(), [&](auto zero) {
    const auto* from = x.data<decltype(zero)>() + begin * cols;
    std::byte* quants = to.quants + begin * to.row_bytes;
    for (int64_t row = begin; row < end; ++row, from += cols, quants += to.row_bytes)
      to.scales[row] = to.type == cpu::RowQuants::words
                           ? quantize_row<U16Half>(from, cols, depth, bias, quants)
                           : quantize_row<U8Quarter>(from, cols, depth, bias, quants);
  });
}

void finish_int8(const Int8Dots& dots, int64_t row, int64_t col, Tensor& c) {
  const int64_t stride = c.cols();
  visit_floating(c.dtype(), [&](auto zero) {
    finish(dots, c.data<decltype(zero)>() + row * stride + col, stride);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

using cpu::Int8Dots;
using cpu::Int8Rows;

HWY_EXPORT(quantize_int8);
void cpu::quantize_int8(const Tensor& x, int64_t begin, int64_t end, const Int8Rows& to) {
  HWY_DYNAMIC_DISPATCH(quantize_int8)(x, begin, end, to);
}
HWY_EXPORT(finish_int8);
void cpu::finish_int8(const Int8Dots& dots, int64_t row, int64_t col, Tensor& c) {
  HWY_DYNAMIC_DISPATCH(finish_int8)(dots, row, col, c);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
