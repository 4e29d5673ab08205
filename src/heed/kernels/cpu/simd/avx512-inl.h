#pragma once

// Vectors of AVX-512 for integer kernels; avx2-inl.h gives the same names to those of AVX2. The
// including file must have enabled the instructions (avx512f, avx512bw, avx512vl, avx512dq) before.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heed::kernels::cpu {
namespace {

using Ints = __m512i;
using Floats = __m512;
constexpr int64_t kLanes = 16;  // of 32 bits

/// Aligned.
inline Ints load_ints(const void* from) { return _mm512_load_si512(from); }
/// f16 to f32.
inline Floats load_halves(const std::byte* from) {
  return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
}
/// bf16 to f32.
inline Floats load_bfloat16s(const std::byte* from) {
  const __m256i numbers = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(numbers), 16));
}
/// i8 to i32.
inline Ints load_bytes(const std::byte* from) {
  return _mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}
inline void store_ints(int32_t* to, Ints x) { _mm512_store_si512(to, x); }
inline void store_floats(float* to, Floats x) { _mm512_storeu_ps(to, x); }

inline Ints set_bytes(int value) { return _mm512_set1_epi8(static_cast<char>(value)); }
inline Ints set_ints(int32_t value) { return _mm512_set1_epi32(value); }
inline Floats set_floats(float value) { return _mm512_set1_ps(value); }
/// Four bytes in every lane.
inline Ints broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return set_ints(quad);
}

inline Ints bits_and(Ints a, Ints b) { return _mm512_and_si512(a, b); }
/// a | (b & mask)
inline Ints insert_bits(Ints a, Ints b, Ints mask) {
  constexpr int kOrOfAnd = 0xf8;
  return _mm512_ternarylogic_epi32(a, b, mask, kOrOfAnd);
}
/// Replaces each byte, below 16, by that byte of the table.
inline Ints look_up(const std::array<uint8_t, 16>& table, Ints bytes) {
  const __m128i one = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data()));
  return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(one), bytes);
}
/// In lanes of 16 bits.
template <int bits>
Ints shift_left(Ints x) {
  return _mm512_slli_epi16(x, bits);
}
template <int bits>
Ints shift_right(Ints x) {
  return _mm512_srli_epi16(x, bits);
}

inline Ints add(Ints a, Ints b) { return _mm512_add_epi32(a, b); }
inline Ints multiply(Ints a, Ints b) { return _mm512_mullo_epi32(a, b); }
inline Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
inline Floats to_floats(Ints x) { return _mm512_cvtepi32_ps(x); }
inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }

}  // namespace
}  // namespace heed::kernels::cpu
