// Integer products with blocks for AVX-512 with VNNI (Intel Ice Lake, AMD Zen 4): an instruction
// multiplies 4 neighbouring k of 16 columns with those of a row.
#include "heed/kernels/cpu/gemm_blocks/avx512.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/prefetch.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 8;

__m512i broadcast_quad(const int8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return _mm512_set1_epi32(quad);
}

/// The dots of a block and a row.
template <DType type, bool upper_in_place>
__m512 dots(const Block<type, upper_in_place>& block, const int8_t* a, const int32_t* starts) {
  __m512i first = _mm512_set1_epi32(starts[0]), second = _mm512_setzero_si512();
  if constexpr (type == DType::q6_K) second = _mm512_set1_epi32(starts[1]);
  for (int i = 0; i < 4; ++i) {
    first = _mm512_dpbusd_epi32(first, block.quads[i], broadcast_quad(a + 4 * i));
    second = _mm512_dpbusd_epi32(second, block.quads[i + 4], broadcast_quad(a + 16 + 4 * i));
  }
  if constexpr (upper_in_place) second = _mm512_srai_epi32(second, 4);
  if constexpr (type == DType::q6_K) {
    first = _mm512_mullo_epi32(first, block.small[0]);
    second = _mm512_mullo_epi32(second, block.small[1]);
  }
  return _mm512_cvtepi32_ps(_mm512_add_epi32(first, second));
}

template <DType type, int Rows>
void multiply_panel(const BlockStrip& strip, const std::byte* panel, float* to) {
  // Cheaper than to shift them, for few rows.
  constexpr bool kUpperInPlace = Rows <= 2 && (type == DType::q4_0 || type == DType::q4_1);
  const QuantizedRows& a = strip.a;
  __m512 sums[Rows];
  for (int r = 0; r < Rows; ++r) sums[r] = _mm512_setzero_ps();
  const int64_t share = strip.layout.bytes / std::max<int64_t>(1, a.blocks);
  for (int64_t at = 0; at < a.blocks; ++at) {
    if constexpr (Rows == 1) prefetch_behind(panel + strip.layout.quants + at * share, share);
    const Block<type, kUpperInPlace> block(strip.layout, panel, at);
    for (int r = 0; r < Rows; ++r) {
      const int64_t place = at * a.together + r;
      const __m512 dot = dots(block, a.quants + place * kProductBlock, a.starts + 2 * place);
      __m512 part = _mm512_fmadd_ps(block.scales, dot, _mm512_setzero_ps());
      if constexpr (type == DType::q4_1)
        part = _mm512_fmadd_ps(block.minimums, _mm512_set1_ps(a.sums[place]), part);
      sums[r] = _mm512_fmadd_ps(_mm512_set1_ps(a.scales[place]), part, sums[r]);
    }
  }
  for (int r = 0; r < Rows; ++r) _mm512_storeu_ps(to + r * strip.stride, sums[r]);
}

template <DType type, int Rows>
void multiply_rows(const BlockStrip& strip) {
  for (int64_t i = 0; i < strip.panels; ++i)
    multiply_panel<type, Rows>(strip, strip.panel + i * strip.layout.bytes,
                               strip.sums + i * kPanelCols);
}

void multiply(const BlockStrip& strip) {
  by_type_and_rows<kRows>(
      strip, []<DType type, int Rows>(const BlockStrip& some) { multiply_rows<type, Rows>(some); });
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const BlockKernel* avx512_vnni_block_kernel() {
  static constexpr BlockKernel kernel{.name = "avx512_vnni",
                                      .least_rows = 0,
                                      .rows = kRows,
                                      .together = kRows,
                                      .row_multiple = 1,
                                      .reads_starts = true,
                                      .multiply = multiply};
  static const bool available = has(Instructions::avx512_vnni);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const BlockKernel* avx512_vnni_block_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
