// Integer products with blocks for AVX-512 with VNNI (Intel Ice Lake, AMD Zen 4): an instruction
// multiplies 4 neighbouring k of 16 columns with those of a row.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")

#include "heed/kernels/cpu/simd/avx512-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_blocks/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 8;

struct Vnni {
  /// For few rows, shifting products is cheaper than shifting the block.
  template <DType type, int rows>
  using Block =
      PanelBlock<type, rows <= 2 && traits_of(type).bits == 4 && !traits_of(type).has_codebook()>;

  template <DType type, bool high_in_place>
  static Floats dots(const PanelBlock<type, high_in_place>& block, const int8_t* a,
                     const int32_t* initial) {
    Ints first = set_ints(initial[0]), second = set_ints(0);
    if constexpr (has_halves(traits_of(type))) second = set_ints(initial[1]);
    for (int i = 0; i < 4; ++i) {
      first = _mm512_dpbusd_epi32(first, block.quads[i], broadcast_quad(a + 4 * i));
      second = _mm512_dpbusd_epi32(second, block.quads[i + 4], broadcast_quad(a + 16 + 4 * i));
    }
    if constexpr (high_in_place) second = _mm512_srai_epi32(second, 4);
    return join_halves(block, first, second);
  }
};

}  // namespace

constinit const BlockKernel avx512_vnni_block_kernel{.name = "avx512_vnni",
                                                     .needs = Instructions::avx512_vnni,
                                                     .min_rows = 0,
                                                     .max_rows = kRows,
                                                     .interleave = kRows,
                                                     .row_multiple = 1,
                                                     .reads_initial = true,
                                                     .multiply = multiply_strip<Vnni, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
