// Integer products with blocks for AVX2 with VNNI (Intel Alder Lake): an instruction multiplies 4
// neighbouring k of 8 columns with those of a row.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")

#include "heed/kernels/cpu/simd/avx2-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_blocks/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 4;

struct AvxVnni {
  template <DType type, int rows>
  using Block = PanelBlock<type>;

  template <DType type>
  static Floats dots(const PanelBlock<type>& block, const int8_t* a, const int32_t* initial) {
    Ints first = set_ints(initial[0]), second = set_ints(0);
    if constexpr (has_halves(traits_of(type))) second = set_ints(initial[1]);
    for (int i = 0; i < 4; ++i) {
      first = _mm256_dpbusd_avx_epi32(first, block.quads[i], broadcast_quad(a + 4 * i));
      second = _mm256_dpbusd_avx_epi32(second, block.quads[i + 4], broadcast_quad(a + 16 + 4 * i));
    }
    return join_halves(block, first, second);
  }
};

}  // namespace

constinit const BlockKernel avx_vnni_block_kernel{.name = "avx_vnni",
                                                  .needs = Instructions::avx_vnni,
                                                  .max_rows = kRows,
                                                  .interleave = kRows,
                                                  .multiply = multiply_strip<AvxVnni, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
