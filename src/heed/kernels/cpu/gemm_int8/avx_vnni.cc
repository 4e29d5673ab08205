// Integer products for AVX2 with VNNI (Intel Alder Lake): an instruction multiplies 4 neighbouring
// k of 8 columns with those of a row, which are biased.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

#include "heed/kernels/cpu/simd/avx2-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_int8/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 3;

struct AvxVnni {
  static constexpr RowQuants kRowQuants = RowQuants::biased;

  static Ints add_products(Ints sums, Ints quad, Ints columns) {
    return _mm256_dpbusd_avx_epi32(sums, quad, columns);
  }
};

}  // namespace

constinit const Int8Kernel avx_vnni_int8_kernel{.name = "avx_vnni",
                                                .needs = Instructions::avx_vnni,
                                                .max_rows = kRows,
                                                .row_multiple = kRows,
                                                .row_quants = AvxVnni::kRowQuants,
                                                .multiply = multiply_strip<AvxVnni, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
