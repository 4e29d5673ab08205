#pragma once

// Vectors of AVX2 for integer kernels; avx512-inl.h gives the same names to those of AVX-512. The
// including file must have enabled the instructions (avx2, fma, f16c) before.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heed::kernels::cpu {
namespace {

using Ints = __m256i;
using Floats = __m256;
constexpr int64_t kLanes = 8;  // of 32 bits

/// Aligned.
inline Ints load_ints(const void* from) {
  return _mm256_load_si256(static_cast<const __m256i*>(from));
}
/// f16 to f32.
inline Floats load_halves(const std::byte* from) {
  return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}
/// bf16 to f32.
inline Floats load_bfloat16s(const std::byte* from) {
  const __m128i numbers = _mm_load_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(numbers), 16));
}
/// i8 to i32.
inline Ints load_bytes(const std::byte* from) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
inline void store_ints(int32_t* to, Ints x) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), x);
}
inline void store_floats(float* to, Floats x) { _mm256_storeu_ps(to, x); }

inline Ints set_bytes(int value) { return _mm256_set1_epi8(static_cast<char>(value)); }
inline Ints set_ints(int32_t value) { return _mm256_set1_epi32(value); }
inline Floats set_floats(float value) { return _mm256_set1_ps(value); }
/// Four bytes in every lane.
inline Ints broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return set_ints(quad);
}

inline Ints bits_and(Ints a, Ints b) { return _mm256_and_si256(a, b); }
inline Ints bits_xor(Ints a, Ints b) { return _mm256_xor_si256(a, b); }
/// a | (b & mask)
inline Ints insert_bits(Ints a, Ints b, Ints mask) {
  return _mm256_or_si256(a, _mm256_and_si256(b, mask));
}
/// Replaces each byte, below 16, by that byte of the table.
inline Ints look_up(const std::array<uint8_t, 16>& table, Ints bytes) {
  const __m128i one = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data()));
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(one), bytes);
}
/// In lanes of 16 bits.
template <int bits>
Ints shift_left(Ints x) {
  return _mm256_slli_epi16(x, bits);
}
template <int bits>
Ints shift_right(Ints x) {
  return _mm256_srli_epi16(x, bits);
}

inline Ints add(Ints a, Ints b) { return _mm256_add_epi32(a, b); }
inline Ints multiply(Ints a, Ints b) { return _mm256_mullo_epi32(a, b); }
inline Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
inline Floats to_floats(Ints x) { return _mm256_cvtepi32_ps(x); }
inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }

}  // namespace
}  // namespace heed::kernels::cpu
