// Integer products with blocks for Intel's AMX and many rows: an instruction computes the dot
// products of 16 rows and 16 columns over a block. Quants become signed bytes once for all rows.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,amx-tile,amx-int8")

#include "heed/kernels/cpu/simd/amx_config-inl.h"
#include "heed/kernels/cpu/simd/avx512-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/gemm_blocks/panel-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTile = 16;
// Tiles take as long for one row as for 16: for fewer than these, vectors are faster.
constexpr int64_t kMinRows = 11;
// Blocks of K in one pass over the rows: their panel stays in the level-2 cache.
constexpr int64_t kPassBlocks = 64;

/// A block of a panel in the layout that tiles read.
struct alignas(64) WideBlock {
  int8_t quants[8 * kQuadBytes];
  float scales[kPanelCols];
  float minimums[2][kPanelCols];
  float sub_scales[2][kPanelCols];
};

template <DType type>
void widen(const PanelLayout& layout, const std::byte* panel, int64_t at, WideBlock& to) {
  constexpr BlockTraits kTraits = traits_of(type);
  const PanelBlock<type> block(layout, panel, at, 0);
  const __m512i bias = set_bytes(quant_bias(kTraits));
  for (int i = 0; i < 8; ++i)
    _mm512_store_si512(to.quants + i * kQuadBytes, _mm512_sub_epi8(block.quads[i], bias));
  _mm512_store_ps(to.scales, block.scales);
  if constexpr (kTraits.has_minimum) _mm512_store_ps(to.minimums[0], block.minimums[0]);
  if constexpr (has_halves(kTraits)) {
    for (int half = 0; half < 2; ++half)
      _mm512_store_ps(to.sub_scales[half], _mm512_cvtepi32_ps(block.sub_scales[half]));
    if constexpr (kTraits.has_minimum) _mm512_store_ps(to.minimums[1], block.minimums[1]);
  }
}

/// Sums: tiles 0, 1, 6 and 7; a: 2 and 3; columns: 4 and 5. If halves have sub-scales, a tile
/// covers 16 elements of a block instead of 32.
template <DType type>
void configure() {
  constexpr int kDepth = has_halves(traits_of(type)) ? 16 : 32;
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = i / 2 == 1 ? kDepth : 64;
    config.rows[i] = i / 2 == 2 ? kDepth / 4 : kTile;
  }
  config.load();
}

/// The dot products of 16 rows and 16 columns as floats, each larger by kBias. Tiles start from the
/// bits of kBias, whose last bit is worth 1, so that adding integers to the bits adds them to the
/// number. Subtracting kBias is part of a multiply-add; converting integers would cost extra.
using Dots = float[kTile * kTile];
constexpr float kBias = 0x1.8p23f;
alignas(64) constexpr std::array<float, kTile> kBegin = [] {
  std::array<float, kTile> row{};
  for (float& value : row) value = kBias;
  return row;
}();

// Instead of GCC's intrinsics: these require tile numbers as literals, and its tile store clobbers
// all memory, so that sums would not stay in registers.
template <int sums, int rows, int cols>
void multiply_tile(const int8_t* a, const int8_t* columns) {
  __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0"
                   :
                   : "i"(sums), "r"(kBegin.data()), "r"(int64_t{0}));
  __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(rows), "r"(a), "r"(kProductBlock));
  __asm__ volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(cols), "r"(columns), "r"(kQuadBytes));
  __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(rows), "i"(cols));
}

template <int tile>
void store_tile(Dots& to) {
  __asm__ volatile("tilestored %%tmm%c1, (%2,%3,1)"
                   : "=m"(to)
                   : "i"(tile), "r"(&to), "r"(int64_t{64}));
}

/// 16 rows of a from block `at` on, and their sums.
struct TileRows {
  QuantizedRows a;
  int64_t at;
  float* sums;
  int64_t stride;
};

/// Starts the dot products of a block, in one of two sets of tiles: if halves have sub-scales, two
/// products of 16 elements each.
template <DType type, bool odd>
void multiply_block(const TileRows& rows, int64_t block, const WideBlock& wide) {
  const int8_t* a = rows.a.quants + (rows.at + block) * kTile * kProductBlock;
  if constexpr (has_halves(traits_of(type))) {
    multiply_tile<odd ? 6 : 0, 2, 4>(a, wide.quants);
    multiply_tile<odd ? 7 : 1, 3, 5>(a + 16, wide.quants + 4 * kQuadBytes);
  } else {
    multiply_tile<odd, 2 + odd, 4 + odd>(a, wide.quants);
  }
}

template <DType type, bool odd>
void store_dots(Dots* to) {
  if constexpr (has_halves(traits_of(type))) {
    store_tile<odd ? 6 : 0>(to[0]);
    store_tile<odd ? 7 : 1>(to[1]);
  } else {
    store_tile<odd>(to[0]);
  }
}

/// Sums of 16 rows. Accessed by constant indices only, so that they stay in registers.
class Sums {
 public:
  __attribute__((always_inline)) explicit Sums(const TileRows& rows) {
    each([&](auto r) {
      sums_[r] = rows.at ? _mm512_load_ps(rows.sums + r * rows.stride) : _mm512_setzero_ps();
    });
  }

  __attribute__((always_inline)) void store(const TileRows& rows) const {
    each([&](auto r) { _mm512_store_ps(rows.sums + r * rows.stride, sums_[r]); });
  }

  /// Adds a block's part.
  template <DType type>
  __attribute__((always_inline)) void add(const TileRows& rows, int64_t block,
                                          const WideBlock& wide, const Dots* dots) {
    constexpr BlockTraits kTraits = traits_of(type);
    const __m512 scales = _mm512_load_ps(wide.scales);
    const __m512 minimums[2] = {_mm512_load_ps(wide.minimums[0]), _mm512_load_ps(wide.minimums[1])};
    const __m512 sub_scales[2] = {_mm512_load_ps(wide.sub_scales[0]),
                                  _mm512_load_ps(wide.sub_scales[1])};
    const float* a_scales = rows.a.scales + (rows.at + block) * kTile;
    const float* a_sums = rows.a.sums + 2 * (rows.at + block) * kTile;
    // Exact: a scale of f16 has 11 significant bits, a sub-scale 7, and kBias 2.
    const __m512 bias = _mm512_set1_ps(kBias), zero = _mm512_setzero_ps();
    const __m512 off = _mm512_fnmadd_ps(has_halves(kTraits) ? sub_scales[0] : scales, bias, zero);
    each([&](auto r) {
      const __m512 dot = _mm512_load_ps(dots[0] + r * kTile);
      __m512 part;
      if constexpr (has_halves(kTraits)) {  // exact in 24 bits, except for the last step
        const __m512 first = _mm512_fmadd_ps(sub_scales[0], dot, off);
        const __m512 second = _mm512_sub_ps(_mm512_load_ps(dots[1] + r * kTile), bias);
        part = _mm512_fmadd_ps(scales, _mm512_fmadd_ps(sub_scales[1], second, first), zero);
      } else if constexpr (type == DType::mxfp4) {  // whose scales times kBias may overflow
        part = _mm512_fmadd_ps(scales, _mm512_sub_ps(dot, bias), zero);
      } else {
        part = _mm512_fmadd_ps(scales, dot, off);
      }
      if constexpr (kTraits.has_minimum)
        part = _mm512_fmadd_ps(minimums[0], _mm512_set1_ps(a_sums[2 * r]), part);
      if constexpr (kTraits.has_minimum && has_halves(kTraits))
        part = _mm512_fmadd_ps(minimums[1], _mm512_set1_ps(a_sums[2 * r + 1]), part);
      sums_[r] = _mm512_fmadd_ps(_mm512_set1_ps(a_scales[r]), part, sums_[r]);
    });
  }

 private:
  template <typename Body>
  __attribute__((always_inline)) static void each(const Body& body) {
    [&]<size_t... r>(std::index_sequence<r...>) __attribute__((always_inline)) {
      (body(std::integral_constant<int64_t, r>()), ...);
    }
    (std::make_index_sequence<kTile>());
  }

  __m512 sums_[kTile];
};

/// Adds the parts of some blocks to the sums of 16 rows. A pipeline: while the tiles of one block
/// are multiplied, those of the block before are stored, and those of the block before that added.
template <DType type>
void multiply_blocks(const TileRows& rows, const WideBlock* wide, int64_t blocks) {
  alignas(64) Dots dots[2][2];
  Sums sums(rows);
  multiply_block<type, false>(rows, 0, wide[0]);
  for (int64_t i = 0; i < blocks; i += 2) {
    if (i + 1 < blocks) multiply_block<type, true>(rows, i + 1, wide[i + 1]);
    store_dots<type, false>(dots[0]);
    if (i) sums.add<type>(rows, i - 1, wide[i - 1], dots[1]);
    if (i + 2 < blocks) multiply_block<type, false>(rows, i + 2, wide[i + 2]);
    if (i + 1 < blocks) store_dots<type, true>(dots[1]);
    sums.add<type>(rows, i, wide[i], dots[0]);
  }
  if (blocks % 2 == 0) sums.add<type>(rows, blocks - 1, wide[blocks - 1], dots[1]);
  sums.store(rows);
}

template <DType type>
void multiply_panels(const BlockStrip& strip) {
  if (strip.layout.blocks == 0)
    std::fill_n(strip.sums, strip.rows * strip.stride, 0.0f);  // there is no pass to clear them
  WideBlock wide[kPassBlocks];
  configure<type>();
  for (int64_t i = 0; i < strip.panels; ++i)
    for (int64_t at = 0; at < strip.layout.blocks; at += kPassBlocks) {
      const int64_t blocks = std::min(kPassBlocks, strip.layout.blocks - at);
      for (int64_t block = 0; block < blocks; ++block)
        widen<type>(strip.layout, strip.panel + i * strip.layout.bytes, at + block, wide[block]);
      __asm__ volatile("" : : "r"(wide) : "memory");
      for (int64_t row = 0; row < strip.rows; row += kTile)
        multiply_blocks<type>({.a = strip.a.from(row),
                               .at = at,
                               .sums = strip.sums + row * strip.stride + i * kPanelCols,
                               .stride = strip.stride},
                              wide, blocks);
    }
  _tile_release();
}

void multiply(const BlockStrip& strip) {
  visit_block(strip.layout.dtype,
              [&](auto block) { multiply_panels<dtype_of<decltype(block)>>(strip); });
}

}  // namespace

constinit const BlockKernel amx_block_kernel{.name = "amx",
                                             .needs = Instructions::amx_int8,
                                             .min_rows = kMinRows,
                                             .max_rows = 16 * kTile,
                                             .interleave = kTile,
                                             .row_multiple = kTile,
                                             .pass_rows = 256,
                                             .reads_initial = false,
                                             .multiply = multiply};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
