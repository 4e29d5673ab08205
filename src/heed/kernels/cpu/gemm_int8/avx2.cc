// Integer products for AVX2: pairs of products are added in 16 bits, at most 2 * 127 * 127, before
// they are added in 32.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx2")

namespace heed::kernels::cpu {
namespace {

__m256i add_products(__m256i sums, __m256i quad, __m256i panel) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(panel), _mm256_sign_epi8(quad, panel));
  return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

}  // namespace
}  // namespace heed::kernels::cpu

#include "heed/kernels/cpu/gemm_int8/avx2-inl.h"

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const Int8Kernel* avx2_int8_kernel() {
  static constexpr Int8Kernel kernel{.name = "avx2",
                                     .least_rows = 0,
                                     .rows = kRows,
                                     .biased = false,
                                     .multiply = multiply_strip<false>};
  static const bool available = has(Instructions::avx2);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const Int8Kernel* avx2_int8_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
