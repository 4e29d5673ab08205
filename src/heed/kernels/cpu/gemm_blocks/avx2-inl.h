#pragma once

// Integer products with blocks in vectors of AVX2, 8 columns in each: what is the same with VNNI
// and without. Who includes it has asked the compiler for its instructions before, and defines
//   dots(const Block<type, biased>& block, const int8_t* a, const int32_t* starts)
// which gives the dots of a block and a row as f32.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/x86.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 4;
constexpr int64_t kHalves = 2 * kPanelCols;  // bytes of f16 [16]
constexpr int64_t kCols = 8;                 // of a vector: half of a panel

__m256i load_quads(const std::byte* from) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
}

__m256 load_scales(const std::byte* from) {
  return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
}

__m256i load_small(const std::byte* from) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}

/// The quants of a block for 8 columns, and its scales; q8_0's are signed again unless `biased`.
template <DType type, bool biased>
struct Block {
  __m256i quads[8];
  __m256 scales, minimums;
  __m256i small[2];

  Block(const PanelLayout& layout, const std::byte* panel, int64_t at, int64_t col) {
    const std::byte* quants = panel + layout.quants + at * layout.block_quants + 4 * col;
    const std::byte* halves = panel + 2 * col;
    if constexpr (type == DType::q8_0)
      for (int i = 0; i < 8; ++i) {
        quads[i] = load_quads(quants + i * kQuadBytes);
        if constexpr (!biased) quads[i] = _mm256_xor_si256(quads[i], _mm256_set1_epi8(-128));
      }
    else
      read_nibbles(quants);
    if constexpr (type == DType::q6_K) {
      add_upper_bits(quants + 4 * kQuadBytes);
      scales = load_scales(halves + at / 8 * kHalves);
      const std::byte* from = panel + layout.small_scales + at * 2 * kPanelCols + col;
      small[0] = load_small(from);
      small[1] = load_small(from + kPanelCols);
    } else if constexpr (type == DType::q4_1) {
      scales = load_scales(halves + 2 * at * kHalves);
      minimums = load_scales(halves + (2 * at + 1) * kHalves);
    } else {
      scales = load_scales(halves + at * kHalves);
    }
  }

 private:
  void read_nibbles(const std::byte* quants) {
    const __m256i lower = _mm256_set1_epi8(15);
    for (int i = 0; i < 4; ++i) {
      const __m256i both = load_quads(quants + i * kQuadBytes);
      quads[i] = _mm256_and_si256(both, lower);
      quads[i + 4] = _mm256_and_si256(_mm256_srli_epi16(both, 4), lower);
    }
  }

  void add_upper_bits(const std::byte* from) {
    const __m256i upper = _mm256_set1_epi8(0x30);
    const auto add = [&](__m256i& to, __m256i bits) {
      to = _mm256_or_si256(to, _mm256_and_si256(bits, upper));
    };
    for (int half = 0; half < 2; ++half) {
      const __m256i bits = load_quads(from + half * kQuadBytes);
      __m256i* to = quads + 4 * half;
      add(to[0], _mm256_slli_epi16(bits, 4));
      add(to[1], _mm256_slli_epi16(bits, 2));
      add(to[2], bits);
      add(to[3], _mm256_srli_epi16(bits, 2));
    }
  }
};

__m256i broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return _mm256_set1_epi32(quad);
}

/// 8 columns from `col` on.
template <DType type, bool biased, int Rows>
void multiply_half_panel(const BlockStrip& strip, const std::byte* panel, int64_t col, float* to) {
  const QuantizedRows& a = strip.a;
  __m256 sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = _mm256_setzero_ps();
  for (int64_t at = 0; at < a.blocks; ++at) {
    const Block<type, biased> block(strip.layout, panel, at, col);
    for (int r = 0; r < Rows; ++r) {
      const int64_t place = at * a.together + r;
      const __m256 dot = dots(block, a.quants + place * kProductBlock, a.starts + 2 * place);
      __m256 part = _mm256_fmadd_ps(block.scales, dot, _mm256_setzero_ps());
      if constexpr (type == DType::q4_1)
        part = _mm256_fmadd_ps(block.minimums, _mm256_set1_ps(a.sums[place]), part);
      sums[r] = _mm256_fmadd_ps(_mm256_set1_ps(a.scales[place]), part, sums[r]);
    }
  }
  for (int r = 0; r < Rows; ++r) _mm256_storeu_ps(to + r * strip.stride, sums[r]);
}

template <DType type, bool biased, int Rows>
void multiply_rows(const BlockStrip& strip) {
  for (int64_t i = 0; i < strip.panels; ++i)
    for (int64_t col = 0; col < kPanelCols; col += kCols)
      multiply_half_panel<type, biased, Rows>(strip, strip.panel + i * strip.layout.bytes, col,
                                              strip.sums + i * kPanelCols + col);
}

}  // namespace
}  // namespace heed::kernels::cpu
