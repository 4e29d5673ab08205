#include "heed/kernels/cpu/gemm_blocks/rows.h"

#include <array>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/gemm_blocks/rows.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/simd-inl.h"

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

/// The largest magnitude of a block, as the bits of an f32: they compare like integers, and what is
/// not finite is largest.
template <typename T>
HWY_INLINE uint32_t largest_magnitude(const T* x) {
  const I32 d;
  const auto magnitude = hn::Set(d, 0x7fffffff);
  auto largest = hn::Zero(d);
  for (int64_t i = 0; i < kProductBlock; i += kLanes)
    largest = hn::Max(largest, hn::And(hn::BitCast(d, load(F32(), x + i)), magnitude));
  return static_cast<uint32_t>(hn::GetLane(hn::MaxOfLanes(d, largest)));
}

/// Stores 16 elements * factor as integers; returns their sum if Sum.
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

/// Blocks whose scales are computed at a time: a division takes as long for one as for a vector.
constexpr int64_t kScaleBlocks = 16;

struct Scales {
  HWY_ALIGN uint32_t magnitudes[kScaleBlocks] = {};
  HWY_ALIGN float scales[kScaleBlocks];
  HWY_ALIGN float inverses[kScaleBlocks];  // 0: all quants are zeros

  /// Computes scales and inverses from magnitudes.
  HWY_INLINE void compute() {
    const F32 d;
    for (int64_t i = 0; i < kScaleBlocks; i += static_cast<int64_t>(hn::Lanes(d))) {
      const V32 largest = hn::BitCast(d, hn::Load(U32(), magnitudes + i));
      const V32 scale = hn::Div(largest, hn::Set(d, 127.0f));
      const V32 inverse = hn::Div(hn::Set(d, 1.0f), scale);
      const auto useful = hn::And(hn::IsFinite(largest), hn::IsFinite(inverse));
      hn::Store(hn::IfThenElseZero(useful, inverse), d, inverses + i);
      const V32 none = hn::IfThenElse(hn::IsFinite(largest), hn::Zero(d), hn::NaN(d));
      hn::Store(hn::IfThenElse(useful, scale, none), d, scales + i);
    }
  }
};

template <typename T>
HWY_INLINE void find_scales(const T* x, int64_t blocks, Scales& found) {
  for (int64_t i = 0; i < blocks; ++i)
    found.magnitudes[i] = largest_magnitude(x + i * kProductBlock);
  found.compute();
}

/// Stores a block's quants; returns the sums of both halves if Sum.
template <bool Sum, typename T>
HWY_INLINE std::array<int32_t, 2> put_block(const T* x, float inverse, int8_t* to) {
  if (inverse == 0.0f) {  // its product with infinity would be NaN
    std::memset(to, 0, kProductBlock);
    return {0, 0};
  }
  const V32 factor = hn::Set(F32(), inverse);
  return {put_quants<Sum>(x, factor, to), put_quants<Sum>(x + kHalfBlock, factor, to + kHalfBlock)};
}

template <bool Sum, typename T>
void quantize_row(const T* x, int64_t row, RowSums wanted, const QuantizedRows& to) {
  const QuantizedRows group = to.from(row / to.interleave * to.interleave);
  int64_t index = row % to.interleave;
  Scales found;
  for (int64_t block = 0; block < group.blocks; ++block) {
    const int64_t i = block % kScaleBlocks;
    if (i == 0) find_scales(x, HWY_MIN(kScaleBlocks, group.blocks - block), found);
    const auto [first, second] =
        put_block<Sum>(x, found.inverses[i], group.quants + index * kProductBlock);
    group.scales[index] = found.scales[i];
    if constexpr (Sum) {
      const std::array sums{wanted.halves ? first : first + second, wanted.halves ? second : 0};
      for (size_t part = 0; part < sums.size(); ++part) {
        group.sums[2 * index + static_cast<int64_t>(part)] = static_cast<float>(sums[part]);
        group.initial[2 * index + static_cast<int64_t>(part)] = -wanted.bias * sums[part];
      }
    }
    x += kProductBlock;
    index += group.interleave;
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

HWY_EXPORT(quantize_activations);
void cpu::quantize_activations(const Tensor& a, int64_t begin, int64_t end, RowSums wanted,
                               const QuantizedRows& to) {
  HWY_DYNAMIC_DISPATCH(quantize_activations)(a, begin, end, wanted, to);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
