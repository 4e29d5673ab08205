// Integer products for AVX-512 without VNNI (Intel Skylake-X). Pairs of products are added in 16
// bits, at most 2 * 127 * 127, before they are added in 32.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq")

#include "heed/kernels/cpu/simd/avx512-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_int8/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 12;

struct Avx512 {
  static constexpr RowQuants kRowQuants = RowQuants::bytes;

  static Ints add_products(Ints sums, Ints quad, Ints columns) {
    const __mmask64 negative = _mm512_movepi8_mask(columns);
    const Ints signed_quad = _mm512_mask_sub_epi8(quad, negative, set_bytes(0), quad);
    const Ints pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(columns), signed_quad);
    return add(sums, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
};

}  // namespace

constinit const Int8Kernel avx512_int8_kernel{.name = "avx512",
                                              .needs = Instructions::avx512,
                                              .max_rows = kRows,
                                              .row_quants = Avx512::kRowQuants,
                                              .multiply = multiply_strip<Avx512, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
