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
  /// For one or two rows, shifting products is cheaper than shifting the block.
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

/// Many rows: a strip of kRows rows by two panels. The bytes of a row, broadcast to all lanes,
/// serve both panels; of the panels, half a block is in registers at a time.
template <DType type>
class TwoPanels {
 public:
  TwoPanels(const BlockStrip& strip, const std::byte* panel)
      : strip_(strip), panels_{panel, panel + strip.layout.bytes} {}

  void multiply(float* to) const {
    Floats sums[kRows][2];
    for (auto& row : sums) row[0] = row[1] = set_floats(0.0f);
    // The next two panels.
    const std::byte* next = panels_[1] + strip_.layout.bytes;
    const int64_t share = 2 * strip_.layout.bytes / std::max<int64_t>(1, strip_.a.blocks);
    for (int64_t block = 0; block < strip_.a.blocks; ++block) {
      if (strip_.first) prefetch_to_level2(next + block * share, share);
      const Scales scales = {{strip_.layout, panels_[0], block, 0},
                             {strip_.layout, panels_[1], block, 0}};
      Dots dots;
      add_half<0>(block, scales, dots);
      add_half<1>(block, scales, dots);
      const int64_t index = block * strip_.a.interleave;
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < 2; ++p)
          sums[r][p] = scales[p].add_part(sums[r][p], to_floats(dots[r][p]), strip_.a, index + r);
    }
    for (int r = 0; r < kRows; ++r)
      for (int p = 0; p < 2; ++p) store_floats(to + r * strip_.stride + p * kPanelCols, sums[r][p]);
  }

 private:
  static constexpr bool kHalves = has_halves(traits_of(type));
  static constexpr bool kBiased = quant_bias(traits_of(type)) != 0;

  using Scales = PanelScales<type>[2];
  using Dots = Ints[kRows][2];

  /// Sets `dots` to the dot products of the first 16 elements of a block, or adds those of the
  /// others.
  template <int half>
  void add_half(int64_t block, const Scales& scales, Dots& dots) const {
    Ints quads[4][2];
    each_index<4>([&](auto i) {
      for (int p = 0; p < 2; ++p)
        quads[i][p] = load_quad<type, 4 * half + i>(panels_[p] + strip_.layout.quants +
                                                    block * strip_.layout.block_quants);
    });
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const int64_t index = block * strip_.a.interleave + r;
      const int8_t* row = strip_.a.quants + index * kProductBlock + 16 * half;
      const Ints initial = kBiased ? set_ints(strip_.a.initial[2 * index + half]) : set_ints(0);
      constexpr bool kContinues = half == 1 && !kHalves;
      Ints sums[2] = {kContinues ? dots[r][0] : initial, kContinues ? dots[r][1] : initial};
#pragma GCC unroll 16
      for (int i = 0; i < 4; ++i) {
        const Ints quad = broadcast_quad(row + 4 * i);
        sums[0] = _mm512_dpbusd_epi32(sums[0], quads[i][0], quad);
        sums[1] = _mm512_dpbusd_epi32(sums[1], quads[i][1], quad);
      }
#pragma GCC unroll 16
      for (int p = 0; p < 2; ++p) {
        if constexpr (kHalves) sums[p] = cpu::multiply(sums[p], scales[p].sub_scales[half]);
        dots[r][p] = kHalves && half == 1 ? add(dots[r][p], sums[p]) : sums[p];
      }
    }
  }

  const BlockStrip& strip_;
  const std::byte* panels_[2];
};

/// BlockKernel::multiply.
void multiply(const BlockStrip& strip) {
  visit_block(strip.layout.dtype, [&](auto block) {
    constexpr DType kType = dtype_of<decltype(block)>;
    const int64_t pairs = strip.rows == kRows ? strip.panels / 2 : 0;
    for (int64_t i = 0; i < pairs; ++i)
      TwoPanels<kType>(strip, strip.panel + 2 * i * strip.layout.bytes)
          .multiply(strip.sums + 2 * i * kPanelCols);
    BlockStrip rest = strip;
    rest.panel += 2 * pairs * strip.layout.bytes;
    rest.panels -= 2 * pairs;
    rest.sums += 2 * pairs * kPanelCols;
    with_rows<kRows>(strip.rows,
                     [&](auto rows) { multiply_rows<Vnni, kType, decltype(rows)::value>(rest); });
  });
}

}  // namespace

constinit const BlockKernel avx512_vnni_block_kernel{.name = "avx512_vnni",
                                                     .needs = Instructions::avx512_vnni,
                                                     .max_rows = kRows,
                                                     .interleave = kRows,
                                                     .multiply = multiply};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
