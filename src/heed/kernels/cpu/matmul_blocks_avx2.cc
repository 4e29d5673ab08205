// Integer products with blocks for AVX2: pairs of products are added in 16 bits, which must not
// overflow, before they are added in 32.
#include "heed/kernels/cpu/instructions.h"
#include "heed/kernels/cpu/matmul_blocks_kernels.h"
#include "heed/kernels/cpu/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

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

/// The quants of a block for 8 columns, and its scales; q8_0's are signed again.
template <DType type>
struct Block {
  __m256i quads[8];
  __m256 scales, minimums;
  __m256i small[2];

  Block(const PanelLayout& layout, const std::byte* panel, int64_t at, int64_t col) {
    const std::byte* quants = panel + layout.quants + at * layout.block_quants + 4 * col;
    const std::byte* halves = panel + 2 * col;
    if constexpr (type == DType::q8_0)
      for (int i = 0; i < 8; ++i)
        quads[i] = _mm256_xor_si256(load_quads(quants + i * kQuadBytes), _mm256_set1_epi8(-128));
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

/// Sums of two products, in 16 bits: at most 2 * 128 * 127.
template <DType type>
__m256i pairs(__m256i weights, __m256i a) {
  if constexpr (type == DType::q8_0)
    return _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(a, weights));
  else
    return _mm256_maddubs_epi16(weights, a);
}

/// The dots of 16 elements, in 32 bits, before those of `start`.
template <DType type>
__m256i half_dots(const __m256i* quads, const int8_t* a) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sum[4];
  for (int i = 0; i < 4; ++i) sum[i] = pairs<type>(quads[i], broadcast_quad(a + 4 * i));
  if constexpr (type == DType::q8_0) {
    for (__m256i& pair : sum) pair = _mm256_madd_epi16(pair, ones);
    return _mm256_add_epi32(_mm256_add_epi32(sum[0], sum[1]), _mm256_add_epi32(sum[2], sum[3]));
  }
  // Two sums of quants of six bits fit in 16 bits, four of those of four bits do.
  const __m256i first = _mm256_add_epi16(sum[0], sum[1]);
  const __m256i second = _mm256_add_epi16(sum[2], sum[3]);
  if constexpr (type == DType::q6_K)
    return _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones));
  return _mm256_madd_epi16(_mm256_add_epi16(first, second), ones);
}

template <DType type>
__m256 dots(const Block<type>& block, const int8_t* a, const int32_t* starts) {
  __m256i first = half_dots<type>(block.quads, a);
  __m256i second = half_dots<type>(block.quads + 4, a + 16);
  if constexpr (type == DType::q4_0 || type == DType::q6_K)
    first = _mm256_add_epi32(first, _mm256_set1_epi32(starts[0]));
  if constexpr (type == DType::q6_K)
    second = _mm256_add_epi32(second, _mm256_set1_epi32(starts[1]));
  if constexpr (type == DType::q6_K) {
    first = _mm256_mullo_epi32(first, block.small[0]);
    second = _mm256_mullo_epi32(second, block.small[1]);
  }
  return _mm256_cvtepi32_ps(_mm256_add_epi32(first, second));
}

/// 8 columns from `col` on.
template <DType type, int Rows>
void multiply_half_panel(const BlockStrip& strip, const std::byte* panel, int64_t col, float* to) {
  const QuantizedRows& a = strip.a;
  __m256 sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = _mm256_setzero_ps();
  for (int64_t at = 0; at < a.blocks; ++at) {
    const Block<type> block(strip.layout, panel, at, col);
    for (int r = 0; r < Rows; ++r) {
      const int64_t place = at * a.together + r;
      const __m256 dot = dots(block, a.quants + place * kProductBlock, a.starts + 2 * place);
      __m256 part = _mm256_mul_ps(block.scales, dot);
      if constexpr (type == DType::q4_1)
        part = _mm256_fmadd_ps(block.minimums, _mm256_set1_ps(a.sums[place]), part);
      sums[r] = _mm256_fmadd_ps(_mm256_set1_ps(a.scales[place]), part, sums[r]);
    }
  }
  for (int r = 0; r < Rows; ++r) _mm256_storeu_ps(to + r * strip.stride, sums[r]);
}

template <DType type, int Rows>
void multiply_rows(const BlockStrip& strip) {
  for (int64_t i = 0; i < strip.panels; ++i)
    for (int64_t col = 0; col < kPanelCols; col += kCols)
      multiply_half_panel<type, Rows>(strip, strip.panel + i * strip.layout.bytes, col,
                                      strip.sums + i * kPanelCols + col);
}

void multiply(const BlockStrip& strip) {
  by_type_and_rows<kRows>(
      strip, []<DType type, int Rows>(const BlockStrip& some) { multiply_rows<type, Rows>(some); });
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const BlockKernel* avx2_block_kernel() {
  static constexpr BlockKernel kernel{.name = "avx2",
                                      .least_rows = 0,
                                      .rows = kRows,
                                      .together = kRows,
                                      .row_multiple = 1,
                                      .reads_starts = true,
                                      .multiply = multiply};
  static const bool available = has(Instructions::avx2);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const BlockKernel* avx2_block_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
