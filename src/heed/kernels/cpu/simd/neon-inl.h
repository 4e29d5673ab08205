#pragma once

// Vectors of NEON for integer kernels, with the names of avx2-inl.h.
#include <arm_neon.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heed::kernels::cpu {
namespace {

using Ints = int32x4_t;
using Floats = float32x4_t;
constexpr int64_t kLanes = 4;  // of 32 bits

inline uint8x16_t as_bytes(Ints x) { return vreinterpretq_u8_s32(x); }
inline int8x16_t as_signed_bytes(Ints x) { return vreinterpretq_s8_s32(x); }

inline Ints load_ints(const void* from) { return vld1q_s32(static_cast<const int32_t*>(from)); }
/// f16 to f32.
inline Floats load_halves(const std::byte* from) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(reinterpret_cast<const uint16_t*>(from))));
}
/// bf16 to f32.
inline Floats load_bfloat16s(const std::byte* from) {
  const uint16x4_t numbers = vld1_u16(reinterpret_cast<const uint16_t*>(from));
  return vreinterpretq_f32_u32(vshll_n_u16(numbers, 16));
}
/// i8 to i32.
inline Ints load_bytes(const std::byte* from) {
  uint32_t four;
  std::memcpy(&four, from, sizeof(four));
  return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(four)))));
}
/// 16 quants of a row.
inline int8x16_t load_row(const int8_t* from) { return vld1q_s8(from); }
inline void store_ints(int32_t* to, Ints x) { vst1q_s32(to, x); }
inline void store_floats(float* to, Floats x) { vst1q_f32(to, x); }

inline Ints set_bytes(int value) {
  return vreinterpretq_s32_s8(vdupq_n_s8(static_cast<int8_t>(value)));
}
inline Ints set_ints(int32_t value) { return vdupq_n_s32(value); }
inline Floats set_floats(float value) { return vdupq_n_f32(value); }

inline Ints bits_and(Ints a, Ints b) { return vandq_s32(a, b); }
inline Ints bits_xor(Ints a, Ints b) { return veorq_s32(a, b); }
/// a | (b & mask)
inline Ints insert_bits(Ints a, Ints b, Ints mask) { return vorrq_s32(a, vandq_s32(b, mask)); }
/// Replaces each byte, below 16, by that byte of the table.
inline Ints look_up(const std::array<uint8_t, 16>& table, Ints bytes) {
  return vreinterpretq_s32_u8(vqtbl1q_u8(vld1q_u8(table.data()), as_bytes(bytes)));
}
/// In lanes of 16 bits.
template <int bits>
Ints shift_left(Ints x) {
  return vreinterpretq_s32_u16(vshlq_n_u16(vreinterpretq_u16_s32(x), bits));
}
template <int bits>
Ints shift_right(Ints x) {
  return vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(x), bits));
}

inline Ints add(Ints a, Ints b) { return vaddq_s32(a, b); }
inline Ints multiply(Ints a, Ints b) { return vmulq_s32(a, b); }
inline Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
inline Floats to_floats(Ints x) { return vcvtq_f32_s32(x); }
inline Floats multiply_add(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }

}  // namespace
}  // namespace heed::kernels::cpu
