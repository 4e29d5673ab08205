// counter_hash (heed/kernels/counter_hash.h) for a vector of indices. Included once per instruction
// set.
#include "heed/kernels/cpu/simd/simd-inl.h"

#if defined(HEED_KERNELS_CPU_COUNTER_HASH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_COUNTER_HASH_INL_H_
#undef HEED_KERNELS_CPU_COUNTER_HASH_INL_H_
#else
#define HEED_KERNELS_CPU_COUNTER_HASH_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// counter_hash for the elements index, index + 1, ... The upper half of the index is the same for
/// all lanes: vectors begin at multiples of their size, so none crosses 2^32.
HWY_INLINE hn::Vec<U32> counter_hash_lanes(uint64_t key, uint64_t index) {
  const U32 du;
  // Iota from a constant is a constant; from a variable, Highway goes through memory.
  const auto indices = hn::Add(hn::Iota(du, 0), hn::Set(du, static_cast<uint32_t>(index)));
  auto x = hn::Xor(indices, hn::Set(du, static_cast<uint32_t>(key)));
  x = hn::Add(x, hn::Set(du, static_cast<uint32_t>(index >> 32) * 0x9e3779b9u));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x85ebca6bu));
  x = hn::Xor(x, hn::Set(du, static_cast<uint32_t>(key >> 32)));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<13>(x)), hn::Set(du, 0xc2b2ae35u));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
