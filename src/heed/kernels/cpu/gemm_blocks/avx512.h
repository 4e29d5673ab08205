#pragma once

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq")

namespace heed::kernels::cpu {

constexpr int64_t kHalves = 2 * kPanelCols;  // bytes of f16 [16]

inline __m512i load_quads(const std::byte* from) { return _mm512_load_si512(from); }

inline __m512 load_scales(const std::byte* from) {
  return _mm512_cvtph_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
}

inline __m512i load_small(const std::byte* from) {
  return _mm512_cvtepi8_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}

/// The quants of a block and its scales; those of q6_K's 16 elements, or minimums, if it has some.
/// The upper four of eight bits are left where they are, 16 times as much, when `upper_in_place`.
template <DType type, bool upper_in_place = false>
struct Block {
  __m512i quads[8];
  __m512 scales, minimums;
  __m512i small[2];

  Block(const PanelLayout& layout, const std::byte* panel, int64_t at) {
    const std::byte* quants = panel + layout.quants + at * layout.block_quants;
    if constexpr (type == DType::q8_0)
      for (int i = 0; i < 8; ++i) quads[i] = load_quads(quants + i * kQuadBytes);
    else
      read_nibbles(quants);
    if constexpr (type == DType::q6_K) {
      add_upper_bits(quants + 4 * kQuadBytes);
      scales = load_scales(panel + at / 8 * kHalves);
      const std::byte* from = panel + layout.small_scales + at * 2 * kPanelCols;
      small[0] = load_small(from);
      small[1] = load_small(from + kPanelCols);
    } else if constexpr (type == DType::q4_1) {
      scales = load_scales(panel + 2 * at * kHalves);
      minimums = load_scales(panel + (2 * at + 1) * kHalves);
    } else {
      scales = load_scales(panel + at * kHalves);
    }
  }

 private:
  void read_nibbles(const std::byte* quants) {
    const __m512i lower = _mm512_set1_epi8(15);
    for (int i = 0; i < 4; ++i) {
      const __m512i both = load_quads(quants + i * kQuadBytes);
      quads[i] = _mm512_and_si512(both, lower);
      quads[i + 4] = upper_in_place ? _mm512_andnot_si512(lower, both)
                                    : _mm512_and_si512(_mm512_srli_epi16(both, 4), lower);
    }
  }

  void add_upper_bits(const std::byte* from) {
    for (int half = 0; half < 2; ++half) {
      const __m512i bits = load_quads(from + half * kQuadBytes);
      __m512i* to = quads + 4 * half;
      to[0] = with_two(to[0], _mm512_slli_epi16(bits, 4));
      to[1] = with_two(to[1], _mm512_slli_epi16(bits, 2));
      to[2] = with_two(to[2], bits);
      to[3] = with_two(to[3], _mm512_srli_epi16(bits, 2));
    }
  }

  /// four | (bits & 0x30)
  static __m512i with_two(__m512i four, __m512i bits) {
    constexpr int kOrOfAnd = 0xf8;
    return _mm512_ternarylogic_epi32(four, bits, _mm512_set1_epi8(0x30), kOrOfAnd);
  }
};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
