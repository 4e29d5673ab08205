#include "heed/kernels/cpu/matmul_blocks_rows.h"

#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/matmul_blocks_rows.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/dispatch.h"
#include "heed/kernels/cpu/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

using cpu::QuantizedRows;
using cpu::RowSums;

using I32 = hn::RebindToSigned<F32>;
using I8Quarter = hn::Rebind<int8_t, F32>;

constexpr int64_t kHalfBlock = kProductBlock / 2;
// A vector has at most 16 lanes, so that none reaches over the end of 16 elements.
constexpr int64_t kLanes = HWY_MAX_BYTES / 4;

/// The greatest magnitude of a block, as the bits of an f32: greater ones are greater integers, and
/// what is not finite is greatest.
template <typename T>
HWY_INLINE uint32_t largest_magnitude(const T* x) {
  const I32 d;
  const auto magnitude = hn::Set(d, 0x7fffffff);
  auto largest = hn::Zero(d);
  for (int64_t i = 0; i < kProductBlock; i += kLanes)
    largest = hn::Max(largest, hn::And(hn::BitCast(d, load(F32(), x + i)), magnitude));
  return static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(d, largest)));
}

/// 16 elements * factor as integers; returns their sum if it is wanted.
template <bool Sum, typename T>
HWY_INLINE int32_t put_quants(const T* x, V32 factor, int8_t* to) {
  const I32 d;
  auto sum = hn::Zero(d);
  for (int64_t i = 0; i < kHalfBlock; i += kLanes) {
    const auto quants = hn::NearestInt(hn::Mul(load(F32(), x + i), factor));
    hn::StoreU(hn::DemoteTo(I8Quarter(), quants), I8Quarter(), to + i);
    if constexpr (Sum) sum = hn::Add(sum, quants);
  }
  return Sum ? hn::GetLane(hn::SumOfLanes(d, sum)) : 0;
}

struct Scales {
  float scale, inverse;
};

Scales scales_of(uint32_t magnitude) {
  float largest;
  std::memcpy(&largest, &magnitude, sizeof(largest));
  if (!std::isfinite(largest)) return {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  const float scale = largest / 127.0f, inverse = 1.0f / scale;
  return std::isfinite(inverse) ? Scales{scale, inverse} : Scales{0.0f, 0.0f};
}

template <bool Sum, typename T>
void quantize_row(const T* x, int64_t row, RowSums wanted, const QuantizedRows& to) {
  const QuantizedRows group = to.from(row / to.together * to.together);
  int64_t place = row % to.together;
  for (int64_t block = 0; block < to.blocks; ++block, x += kProductBlock, place += to.together) {
    const Scales scales = scales_of(largest_magnitude(x));
    int8_t* quants = group.quants + place * kProductBlock;
    int32_t first = 0, second = 0;
    if (scales.inverse == 0.0f) {  // which times infinity would be no number
      std::memset(quants, 0, kProductBlock);
    } else {
      const V32 factor = hn::Set(F32(), scales.inverse);
      first = put_quants<Sum>(x, factor, quants);
      second = put_quants<Sum>(x + kHalfBlock, factor, quants + kHalfBlock);
    }
    group.scales[place] = scales.scale;
    if constexpr (!Sum) continue;
    group.sums[place] = static_cast<float>(first + second);
    group.starts[2 * place] = -wanted.bias * (wanted.halves ? first : first + second);
    group.starts[2 * place + 1] = wanted.halves ? -wanted.bias * second : 0;
  }
}

}  // namespace

void quantize_activations(const Tensor& a, int64_t begin, int64_t end, RowSums wanted,
                          const QuantizedRows& to) {
  visit_floating(a.dtype(), [&](auto zero) {
    const auto* from = a.data<decltype(zero)>();
    for (int64_t row = begin; row < end; ++row)
      if (wanted.any)
        quantize_row<true>(from + row * a.cols(), row, wanted, to);
      else
        quantize_row<false>(from + row * a.cols(), row, wanted, to);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

using cpu::QuantizedRows;
using cpu::RowSums;

HEED_CPU_KERNEL(void, quantize_activations,
                (const Tensor& a, int64_t begin, int64_t end, RowSums wanted,
                 const QuantizedRows& to),
                (a, begin, end, wanted, to))

}  // namespace heed::kernels
#endif  // HWY_ONCE
