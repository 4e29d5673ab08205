// Integer products with blocks for Intel's AMX, of many rows: an instruction makes the dots of 16
// rows and 16 columns over a block. Quants are widened to signed bytes once for all rows.
#include "heed/kernels/cpu/gemm_blocks/avx512.h"
#include "heed/kernels/cpu/simd/instructions.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,amx-tile,amx-int8")

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTile = 16;
// Tiles take as long for one row as for 16: for fewer than these, vectors are faster.
constexpr int64_t kFewestRows = 11;
// Of K in one pass over the rows: fewer begin and end more often, more leave the level-2 cache.
constexpr int64_t kPassBlocks = 64;

/// A block of a panel as tiles read it.
struct alignas(64) WideBlock {
  int8_t quants[8 * kQuadBytes];
  float scales[kPanelCols];
  /// Minimums of q4_1; q6_K's scales of the first 16 elements, and of the others.
  float more[2][kPanelCols];
};

template <DType type>
void widen(const PanelLayout& layout, const std::byte* panel, int64_t at, WideBlock& to) {
  const Block<type> block(layout, panel, at);
  const __m512i bias = _mm512_set1_epi8(static_cast<char>(quant_bias(type)));
  for (int i = 0; i < 8; ++i)
    _mm512_store_si512(to.quants + i * kQuadBytes, _mm512_sub_epi8(block.quads[i], bias));
  _mm512_store_ps(to.scales, block.scales);
  if constexpr (type == DType::q4_1) _mm512_store_ps(to.more[0], block.minimums);
  if constexpr (type == DType::q6_K)
    for (int half = 0; half < 2; ++half)
      _mm512_store_ps(to.more[half], _mm512_cvtepi32_ps(block.small[half]));
}

/// Sums: tiles 0, 1, 6 and 7; a: 2 and 3; columns: 4 and 5. Those of q6_K hold 16 elements.
template <DType type>
void configure() {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {};
    uint8_t rows[16] = {};
  } config;
  static_assert(sizeof(config) == 64);
  constexpr int kDepth = type == DType::q6_K ? 16 : 32;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = i / 2 == 1 ? kDepth : 64;
    config.rows[i] = i / 2 == 2 ? kDepth / 4 : kTile;
  }
  // GCC's tile intrinsics do not tell it all that they read: this, and what was widened before.
  __asm__ volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
}

/// The dots of 16 rows and 16 columns, as floats of which each is larger by kBias: tiles begin with
/// that, whose last bit is 1, so that integers added to its bits are added to the number. To take
/// it off again costs nothing beside a multiplication; to make floats of integers would.
using Dots = float[kTile * kTile];
constexpr float kBias = 0x1.8p23f;
alignas(64) constexpr std::array<float, kTile> kBegin = [] {
  std::array<float, kTile> row{};
  for (float& value : row) value = kBias;
  return row;
}();

// GCC's own intrinsics want the numbers of tiles as digits, and storing one tells it that all
// memory may change, sums in registers included, which it then keeps in memory.
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

/// 16 rows of a, from a block on, and where their sums are.
struct TileRows {
  QuantizedRows a;
  int64_t at;
  float* sums;
  int64_t stride;
};

/// Begins the dots of a block, by one of two sets of tiles: those of q6_K are two, of 16 elements
/// each.
template <DType type, bool odd>
void multiply_block(const TileRows& rows, int64_t block, const WideBlock& wide) {
  const int8_t* a = rows.a.quants + (rows.at + block) * kTile * kProductBlock;
  if constexpr (type == DType::q6_K) {
    multiply_tile<odd ? 6 : 0, 2, 4>(a, wide.quants);
    multiply_tile<odd ? 7 : 1, 3, 5>(a + 16, wide.quants + 4 * kQuadBytes);
  } else {
    multiply_tile<odd, 2 + odd, 4 + odd>(a, wide.quants);
  }
}

template <DType type, bool odd>
void store_dots(Dots* to) {
  if constexpr (type == DType::q6_K) {
    store_tile<odd ? 6 : 0>(to[0]);
    store_tile<odd ? 7 : 1>(to[1]);
  } else {
    store_tile<odd>(to[0]);
  }
}

/// Sums of 16 rows. They are named one by one, in place of a loop, to stay in registers.
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

  /// Adds a block's term.
  template <DType type>
  __attribute__((always_inline)) void add(const TileRows& rows, int64_t block,
                                          const WideBlock& wide, const Dots* dots) {
    const __m512 scales = _mm512_load_ps(wide.scales);
    const __m512 more[2] = {_mm512_load_ps(wide.more[0]), _mm512_load_ps(wide.more[1])};
    const float* a_scales = rows.a.scales + (rows.at + block) * kTile;
    const float* a_sums = rows.a.sums + (rows.at + block) * kTile;
    // Exact: a scale of f16 has 11 bits, one of q6_K's has 7, and kBias has 2.
    const __m512 bias = _mm512_set1_ps(kBias), zero = _mm512_setzero_ps();
    const __m512 off = _mm512_fnmadd_ps(type == DType::q6_K ? more[0] : scales, bias, zero);
    each([&](auto r) {
      const __m512 dot = _mm512_load_ps(dots[0] + r * kTile);
      __m512 part;
      if constexpr (type == DType::q6_K) {  // exact but for the last: 24 bits are enough
        const __m512 first = _mm512_fmadd_ps(more[0], dot, off);
        const __m512 second = _mm512_sub_ps(_mm512_load_ps(dots[1] + r * kTile), bias);
        part = _mm512_fmadd_ps(scales, _mm512_fmadd_ps(more[1], second, first), zero);
      } else {
        part = _mm512_fmadd_ps(scales, dot, off);
      }
      if constexpr (type == DType::q4_1)
        part = _mm512_fmadd_ps(more[0], _mm512_set1_ps(a_sums[r]), part);
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

/// Adds the terms of some blocks to the sums of 16 rows, or begins them. While a block's dots are
/// made, those of the one before are stored, and those of the one before that are added.
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
    std::fill_n(strip.sums, strip.rows * strip.stride, 0.0f);  // which no pass begins
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
  visit_stored(strip.layout.dtype, [&](auto stored) {
    constexpr DType type = dtype_of<decltype(stored)>;
    if constexpr (!is_plain(type)) multiply_panels<type>(strip);
  });
}

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const BlockKernel* amx_block_kernel() {
  static constexpr BlockKernel kernel{.name = "amx",
                                      .least_rows = kFewestRows,
                                      .rows = 16 * kTile,
                                      .together = kTile,
                                      .row_multiple = kTile,
                                      .reads_starts = false,
                                      .multiply = multiply};
  static const bool available = has(Instructions::amx_int8);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const BlockKernel* amx_block_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
