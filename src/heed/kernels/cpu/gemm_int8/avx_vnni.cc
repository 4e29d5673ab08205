// Integer products for vectors of AVX2 with VNNI (Intel Alder Lake): an instruction multiplies 4
// neighbouring k of 8 columns with those of a row, which are biased.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx2,avxvnni")

namespace heed::kernels::cpu {
namespace {

__m256i add_products(__m256i sums, __m256i quad, __m256i panel) {
  return _mm256_dpbusd_avx_epi32(sums, quad, panel);
}

}  // namespace
}  // namespace heed::kernels::cpu

#include "heed/kernels/cpu/gemm_int8/avx2-inl.h"

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const Int8Kernel* avx_vnni_int8_kernel() {
  static constexpr Int8Kernel kernel{.name = "avx_vnni",
                                     .least_rows = 0,
                                     .rows = kRows,
                                     .biased = true,
                                     .multiply = multiply_strip<true>};
  static const bool available = has(Instructions::avx_vnni);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const Int8Kernel* avx_vnni_int8_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
