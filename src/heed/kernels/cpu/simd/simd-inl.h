// What every vector kernel starts with: Highway, and loads and stores that convert between f32
// lanes and f32 or bf16 memory. Included once per instruction set (see foreach_target in each .cc).
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "heed/tensor/bfloat16.h"

#if defined(HEED_KERNELS_CPU_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_SIMD_INL_H_
#undef HEED_KERNELS_CPU_SIMD_INL_H_
#else
#define HEED_KERNELS_CPU_SIMD_INL_H_
#endif

/// Goes between the parameters and the body of a lambda that works on vectors: the lambda is
/// compiled for the instruction set of its function, and inlined.
#define HEED_LANES HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using U32 = hn::Repartition<uint32_t, F32>;
using U16Half = hn::Rebind<uint16_t, F32>;
using V32 = hn::Vec<F32>;

HWY_INLINE V32 load(F32 d, const float* from) { return hn::LoadU(d, from); }

HWY_INLINE V32 load(F32 d, const bfloat16* from) {
  const auto bits = hn::LoadU(U16Half(), reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(U32(), bits)));
}

HWY_INLINE void store(F32 d, V32 value, float* to) { hn::StoreU(value, d, to); }

/// Rounds to nearest, ties to even, and keeps NaN, like bfloat16(float).
HWY_INLINE void store(F32, V32 value, bfloat16* to) {
  const U32 du;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
  // Rounding would carry some NaNs into infinity or zero: those are only made quiet.
  const auto kept = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)),
                                   hn::Or(bits, hn::Set(du, 0x400000)), rounded);
  hn::StoreU(hn::TruncateTo(U16Half(), hn::ShiftRight<16>(kept)), U16Half(),
             reinterpret_cast<uint16_t*>(to));
}

/// The first `count` lanes from memory, zeros after them; touches nothing beyond.
template <typename T>
HWY_INLINE V32 load_first(F32 d, const T* from, size_t count) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / 4] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return load(d, lanes);
}

/// The first `count` lanes to memory; touches nothing beyond.
template <typename T>
HWY_INLINE void store_first(F32 d, V32 value, T* to, size_t count) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / 4];
  store(d, value, lanes);
  for (size_t i = 0; i < count; ++i) to[i] = lanes[i];
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
