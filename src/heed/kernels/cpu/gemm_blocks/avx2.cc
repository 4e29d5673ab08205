// Integer products with blocks for AVX2: pairs of products are added in 16 bits, which must not
// overflow, before they are added in 32.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

#include "heed/kernels/cpu/gemm_blocks/avx2-inl.h"

namespace heed::kernels::cpu {
namespace {

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
__m256 dots(const Block<type, false>& block, const int8_t* a, const int32_t* starts) {
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

void multiply(const BlockStrip& strip) {
  by_type_and_rows<kRows>(strip, []<DType type, int Rows>(const BlockStrip& some) {
    multiply_rows<type, false, Rows>(some);
  });
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
