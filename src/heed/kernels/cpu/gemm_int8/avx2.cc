// Integer products for AVX2. Pairs of products are added in 16 bits, at most 2 * 127 * 127, before
// they are added in 32.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")

#include "heed/kernels/cpu/simd/avx2-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_int8/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 2;

struct Avx2 {
  static constexpr bool kBiased = false;

  static Ints add_products(Ints sums, Ints quad, Ints columns) {
    const Ints pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(quad), _mm256_sign_epi8(columns, quad));
    return add(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace

constinit const Int8Kernel avx2_int8_kernel{.name = "avx2",
                                            .needs = Instructions::avx2,
                                            .min_rows = 0,
                                            .max_rows = kRows,
                                            .row_multiple = 1,
                                            .biased = Avx2::kBiased,
                                            .multiply = multiply_strip<Avx2, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
