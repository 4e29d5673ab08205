// Integer products for AVX-512 with VNNI (Intel Ice Lake, AMD Zen 4): an instruction multiplies 4
// neighbouring k of 16 columns with those of a row, which are biased.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

#include "heed/kernels/cpu/simd/avx512-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_int8/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 12;

struct Vnni {
  static constexpr RowQuants kRowQuants = RowQuants::biased;

  static Ints add_products(Ints sums, Ints quad, Ints columns) {
    return _mm512_dpbusd_epi32(sums, quad, columns);
  }
};

}  // namespace

constinit const Int8Kernel avx512_vnni_int8_kernel{.name = "avx512_vnni",
                                                   .needs = Instructions::avx512_vnni,
                                                   .max_rows = kRows,
                                                   .row_quants = Vnni::kRowQuants,
                                                   .multiply = multiply_strip<Vnni, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
