// Integer products with blocks for vectors of AVX2 with VNNI (Intel Alder Lake): an instruction
// multiplies 4 neighbouring k of 8 columns with those of a row.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

#include "heed/kernels/cpu/gemm_blocks/avx2-inl.h"

namespace heed::kernels::cpu {
namespace {

template <DType type>
__m256 dots(const Block<type, true>& block, const int8_t* a, const int32_t* starts) {
  __m256i first = _mm256_set1_epi32(starts[0]), second = _mm256_setzero_si256();
  if constexpr (type == DType::q6_K) second = _mm256_set1_epi32(starts[1]);
  for (int i = 0; i < 4; ++i) {
    first = _mm256_dpbusd_avx_epi32(first, block.quads[i], broadcast_quad(a + 4 * i));
    second = _mm256_dpbusd_avx_epi32(second, block.quads[i + 4], broadcast_quad(a + 16 + 4 * i));
  }
  if constexpr (type == DType::q6_K) {
    first = _mm256_mullo_epi32(first, block.small[0]);
    second = _mm256_mullo_epi32(second, block.small[1]);
  }
  return _mm256_cvtepi32_ps(_mm256_add_epi32(first, second));
}

void multiply(const BlockStrip& strip) {
  by_type_and_rows<kRows>(strip, []<DType type, int Rows>(const BlockStrip& some) {
    multiply_rows<type, true, Rows>(some);
  });
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const BlockKernel* avx_vnni_block_kernel() {
  static constexpr BlockKernel kernel{.name = "avx_vnni",
                                      .least_rows = 0,
                                      .rows = kRows,
                                      .together = kRows,
                                      .row_multiple = 1,
                                      .reads_starts = true,
                                      .multiply = multiply};
  static const bool available = has(Instructions::avx_vnni);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const BlockKernel* avx_vnni_block_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
