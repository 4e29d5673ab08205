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

  /// Not defaulted: GCC would compile it without the instructions of Highway's NEON.
  HWY_INLINE Unit() {}
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

/// to |= bits [shift, shift + bits) of 32 bytes, moved left by `at`.
template <int bits>
HWY_INLINE void add_bits(const uint8_t* from, int64_t shift, int at, uint8_t* to) {
  const hn::CappedTag<uint8_t, kUnit> bytes;
  const hn::Repartition<uint16_t, decltype(bytes)> pairs;
  const auto mask = hn::Set(pairs, ((1u << bits) - 1) * 0x0101u);
  for (int64_t i = 0; i < kUnit; i += static_cast<int64_t>(hn::Lanes(bytes))) {
    // Shifted in lanes of 16 bits: what the mask leaves comes from the same byte.
    const auto all = hn::BitCast(pairs, hn::LoadU(bytes, from + i));
    const auto own = hn::And(hn::ShiftRightSame(all, static_cast<int>(shift)), mask);
    const auto moved = hn::BitCast(bytes, hn::ShiftLeftSame(own, at));
    hn::Store(hn::Or(moved, hn::Load(bytes, to + i)), bytes, to + i);
  }
}

/// to = the low halves of 16 bytes, then the high halves.
HWY_INLINE void put_nibbles(const uint8_t* from, uint8_t* to) {
  for (int64_t i = 0; i < kUnit / 2; ++i) {
    to[i] = from[i] & 15;
    to[kUnit / 2 + i] = from[i] >> 4;
  }
}

/// to |= bit i of the four bytes at bit 4 of code i.
HWY_INLINE void add_fifth_bits(const std::array<uint8_t, 4>& from, uint8_t* to) {
  for (int64_t i = 0; i < kUnit; ++i) to[i] = static_cast<uint8_t>(to[i] | bit(from, i) << 4);
}

// The 32 codes of a unit of a block; `to` holds zeros (see tensor/blocks_of_32.h, blocks_of_256.h).

HWY_INLINE void codes_of(const BlockQ5_0& block, int64_t, uint8_t* to) {
  put_nibbles(block.quants.data(), to);
  add_fifth_bits(block.high, to);
}

HWY_INLINE void codes_of(const BlockQ5_1& block, int64_t, uint8_t* to) {
  put_nibbles(block.quants.data(), to);
  add_fifth_bits(block.high, to);
}

HWY_INLINE void codes_of(const BlockIQ4_NL& block, int64_t, uint8_t* to) {
  put_nibbles(block.quants.data(), to);
}

HWY_INLINE void codes_of(const BlockMXFP4& block, int64_t, uint8_t* to) {
  put_nibbles(block.quants.data(), to);
}

HWY_INLINE void codes_of(const BlockIQ4_XS& block, int64_t unit, uint8_t* to) {
  put_nibbles(block.quants.data() + 16 * unit, to);
}

HWY_INLINE void codes_of(const BlockQ2_K& block, int64_t unit, uint8_t* to) {
  add_bits<2>(block.quants.data() + unit / 4 * kUnit, unit % 4 * 2, 0, to);
}

HWY_INLINE void codes_of(const BlockQ3_K& block, int64_t unit, uint8_t* to) {
  add_bits<2>(block.quants.data() + unit / 4 * kUnit, unit % 4 * 2, 0, to);
  add_bits<1>(block.high.data(), unit, 2, to);
}

HWY_INLINE void codes_of(const BlockQ4_K& block, int64_t unit, uint8_t* to) {
  add_bits<4>(block.quants.data() + unit / 2 * kUnit, unit % 2 * 4, 0, to);
}

HWY_INLINE void codes_of(const BlockQ5_K& block, int64_t unit, uint8_t* to) {
  add_bits<4>(block.quants.data() + unit / 2 * kUnit, unit % 2 * 4, 0, to);
  add_bits<1>(block.high.data(), unit, 4, to);
}

HWY_INLINE void codes_of(const BlockQ6_K& block, int64_t unit, uint8_t* to) {
  const int64_t half = unit / 4, part = unit % 4;
  add_bits<4>(block.low.data() + 2 * kUnit * half + kUnit * (part % 2), part / 2 * 4, 0, to);
  add_bits<2>(block.high.data() + kUnit * half, 2 * part, 4, to);
}

/// Replaces codes by quants.
template <typename Block>
HWY_INLINE void codes_to_quants(uint8_t* codes) {
  for (int64_t i = 0; i < kUnit; ++i)
    if constexpr (Block::kTraits.has_codebook())
      codes[i] = static_cast<uint8_t>((*Block::kTraits.codebook)[codes[i]]);
    else
      codes[i] = static_cast<uint8_t>(codes[i] + Block::kTraits.lowest);
}

/// Any block type.
template <typename Block>
HWY_INLINE Unit unit_of_block(const Block& block, int64_t unit) {
  constexpr BlockTraits kTraits = Block::kTraits;
  HWY_ALIGN uint8_t codes[kUnit] = {};
  codes_of(block, unit, codes);
  codes_to_quants<Block>(codes);
  const auto* quants = reinterpret_cast<const int8_t*>(codes);
  Unit result;
  for (int64_t i = 0; i < kUnitVectors; ++i) {
    const int64_t at = kUnit * unit + i * kVectorLanes;
    V32 scale = set(scale_of(block));
    if constexpr (kTraits.has_sub_scales())
      scale = hn::Mul(scale, set(static_cast<float>(block.sub_scale(at))));
    const V32 quant = hn::ConvertTo(F32(), load_bytes(quants + i * kVectorLanes));
    if constexpr (kTraits.has_minimum)
      result.lanes[i] = hn::MulAdd(quant, scale, set(minimum_of(block, at)));
    else
      result.lanes[i] = hn::Mul(quant, scale);
  }
  return result;
}

/// Unit `unit` of a row; the types that are most common have overloads above.
template <typename T>
HWY_INLINE Unit unit_of(const T* row, int64_t unit) {
  if constexpr (is_plain(dtype_of<T>)) {
    Unit result;
    for (int64_t i = 0; i < kUnitVectors; ++i)
      result.lanes[i] = load(F32(), row + unit * kUnit + i * kVectorLanes);
    return result;
  } else {
    constexpr int64_t kUnits = T::kElements / kUnit;
    return unit_of_block(row[unit / kUnits], unit % kUnits);
  }
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
