// Converts stored weights to f32 lanes, 32 elements at a time: `unit_of(row, unit)` for every
// stored dtype. Included once per instruction set.
#include <cstddef>
#include <cstdint>

#include "heed/kernels/cpu/simd/lanes-inl.h"
#include "heed/tensor/dtype.h"

#if defined(HEED_KERNELS_CPU_STORED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEED_KERNELS_CPU_STORED_INL_H_
#undef HEED_KERNELS_CPU_STORED_INL_H_
#else
#define HEED_KERNELS_CPU_STORED_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

using I32 = hn::RebindToSigned<F32>;
using U8Quarter = hn::Rebind<uint8_t, F32>;
using I8Quarter = hn::Rebind<int8_t, F32>;

constexpr int64_t kVectorLanes = HWY_MAX_BYTES / 4;
constexpr int64_t kUnit = 32;
constexpr int64_t kUnitVectors = kUnit / kVectorLanes;
constexpr int64_t kHalfUnit = kUnitVectors / 2;

/// 32 consecutive elements.
struct Unit {
  V32 lanes[kUnitVectors];
};

/// f16 to f32, exactly.
HWY_INLINE V32 widen_halves(hn::Vec<U16Half> halves) {
#if HWY_ARCH_X86 && HWY_TARGET < HWY_SSE4 && !defined(HWY_DISABLE_F16C)
  return hn::PromoteTo(F32(), hn::BitCast(hn::Rebind<hwy::float16_t, F32>(), halves));
#else
  const U32 du;
  const auto bits = hn::PromoteTo(du, halves);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fff)));
  // The product changes the exponent's bias from 15 to 127, also of subnormal numbers.
  const auto value = hn::Mul(hn::BitCast(F32(), magnitude), hn::Set(F32(), 0x1p112f));
  const auto special = hn::Gt(magnitude, hn::Set(du, (0x7c00u << 13) - 1));
  const auto exponent = hn::IfThenElseZero(special, hn::Set(du, 0x7f800000));
  return hn::BitCast(F32(), hn::Or(hn::Or(hn::BitCast(du, value), exponent), sign));
#endif
}

HWY_INLINE V32 load(F32, const float16* from) {
  return widen_halves(hn::LoadU(U16Half(), reinterpret_cast<const uint16_t*>(from)));
}

/// The number as f32 in all lanes.
HWY_INLINE V32 set_half(float16 number) { return widen_halves(hn::Set(U16Half(), number.bits)); }

HWY_INLINE hn::Vec<I32> load_bytes(const uint8_t* from) {
  return hn::PromoteTo(I32(), hn::LoadU(U8Quarter(), from));
}
HWY_INLINE hn::Vec<I32> load_bytes(const int8_t* from) {
  return hn::PromoteTo(I32(), hn::LoadU(I8Quarter(), from));
}

template <typename T>
HWY_INLINE Unit unit_of(const T* row, int64_t unit) {
  Unit result;
  for (int64_t i = 0; i < kUnitVectors; ++i)
    result.lanes[i] = load(F32(), row + unit * kUnit + i * kVectorLanes);
  return result;
}

/// scale * q + offset for 32 quants q of four bits.
HWY_INLINE Unit nibbles_of(const uint8_t* quants, V32 scale, V32 offset) {
  const auto mask = hn::Set(I32(), 15);
  Unit result;
  for (int64_t i = 0; i < kHalfUnit; ++i) {
    const auto bytes = load_bytes(quants + i * kVectorLanes);
    const auto low = hn::ConvertTo(F32(), hn::And(bytes, mask));
    const auto high = hn::ConvertTo(F32(), hn::ShiftRight<4>(bytes));
    result.lanes[i] = hn::MulAdd(low, scale, offset);
    result.lanes[kHalfUnit + i] = hn::MulAdd(high, scale, offset);
  }
  return result;
}

HWY_INLINE Unit unit_of(const BlockQ4_0* row, int64_t unit) {
  const V32 scale = set_half(row[unit].scale);
  // The offset and the sum are exact, since no product has more than 15 bits. Zeros are positive.
  return nibbles_of(row[unit].quants.data(), scale, hn::Mul(scale, set(-8.0f)));
}

HWY_INLINE Unit unit_of(const BlockQ4_1* row, int64_t unit) {
  return nibbles_of(row[unit].quants.data(), set_half(row[unit].scale),
                    set_half(row[unit].minimum));
}

HWY_INLINE Unit unit_of(const BlockQ8_0* row, int64_t unit) {
  const V32 scale = set_half(row[unit].scale);
  const int8_t* quants = row[unit].quants.data();
  Unit result;
  for (int64_t i = 0; i < kUnitVectors; ++i)
    result.lanes[i] = hn::Mul(hn::ConvertTo(F32(), load_bytes(quants + i * kVectorLanes)), scale);
  return result;
}

/// The 32 quants of part i of a half of a q6_K block (see tensor/blocks.h).
HWY_INLINE void join_bits(const uint8_t* low, const uint8_t* high, int64_t part, int8_t* to) {
  const hn::CappedTag<uint8_t, kUnit> bytes;
  const hn::Repartition<uint16_t, decltype(bytes)> pairs;
  const hn::RebindToSigned<decltype(bytes)> quants;
  const int low_shift = static_cast<int>(4 * (part / 2)), high_shift = static_cast<int>(2 * part);
  for (int64_t i = 0; i < kUnit; i += static_cast<int64_t>(hn::Lanes(bytes))) {
    // Shifted in lanes of 16 bits: what the mask leaves comes from the same byte.
    const auto lower = hn::BitCast(pairs, hn::LoadU(bytes, low + i));
    const auto upper = hn::BitCast(pairs, hn::LoadU(bytes, high + i));
    const auto four = hn::And(hn::ShiftRightSame(lower, low_shift), hn::Set(pairs, 0x0f0f));
    const auto two = hn::And(hn::ShiftRightSame(upper, high_shift), hn::Set(pairs, 0x0303));
    const auto six = hn::BitCast(quants, hn::Or(four, hn::ShiftLeft<4>(two)));
    hn::Store(hn::Sub(six, hn::Set(quants, 32)), quants, to + i);
  }
}

HWY_INLINE Unit unit_of(const BlockQ6_K* row, int64_t unit) {
  const BlockQ6_K& block = row[unit / 8];
  const int64_t of_block = unit % 8, half = of_block / 4, part = of_block % 4;
  HWY_ALIGN int8_t quants[kUnit];
  join_bits(block.low.data() + 64 * half + 32 * (part % 2), block.high.data() + 32 * half, part,
            quants);
  const V32 scale = set_half(block.scale);
  Unit result;
  for (int64_t i = 0; i < kUnitVectors; ++i) {
    const int64_t at = i * kVectorLanes;
    const int8_t scale16 = block.scales[static_cast<size_t>(2 * of_block + at / 16)];
    result.lanes[i] = hn::Mul(hn::ConvertTo(F32(), load_bytes(quants + at)),
                              hn::Mul(scale, set(static_cast<float>(scale16))));
  }
  return result;
}

/// The last elements of a row of `cols`, from `begin` on, fewer than 32, padded with zeros. Only
/// rows of plain types have such a tail.
template <typename T>
HWY_INLINE Unit tail_of(const T* row, int64_t begin, int64_t cols) {
  constexpr bool plain = is_plain(dtype_of<T>);
  T tail[plain ? kUnit : 1] = {};
  if constexpr (plain)
    for (int64_t i = begin; i < cols; ++i) tail[i - begin] = row[i];
  return unit_of(tail, 0);
}

/// Converts elements [begin, end) of a row to f32; `begin` is a multiple of 32. Pads with zeros to
/// a multiple of 32.
template <typename T>
HWY_INLINE void widen_row(const T* row, int64_t begin, int64_t end, float* to) {
  int64_t at = begin;
  const auto put = [&](const Unit& unit) HEED_LANES {
    for (int64_t i = 0; i < kUnitVectors; ++i)
      store(F32(), unit.lanes[i], to + (at - begin) + i * kVectorLanes);
  };
  for (; at + kUnit <= end; at += kUnit) put(unit_of(row, at / kUnit));
  if (at < end) put(tail_of(row, at, end));
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
