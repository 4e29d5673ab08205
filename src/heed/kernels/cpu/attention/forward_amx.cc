#include "heed/kernels/cpu/attention/forward_amx.h"

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>

namespace heed::kernels::cpu {

bool has_attention_tiles() {
  static const bool available = has(Instructions::amx_bf16);
  return available;
}

}  // namespace heed::kernels::cpu

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")

#include "heed/kernels/cpu/simd/amx_tiles-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kPairRow = 2 * kTileCols;                // elements from pair to pair
constexpr int64_t kPanelStep = kTileDepth / 2 * kPairRow;  // elements of kTileDepth rows
static_assert(kTileRows == 2 * kTile && kTileCols == 2 * kTile && kTileDepth == 2 * kTile);

/// Adds the products of all parts with kTileDepth rows of a panel, the smallest part first.
template <bool Lower>
void add_step(const TileRows& left, int64_t k, const bfloat16* right) {
  _tile_loadd(6, right, kPairRow * 2);
  _tile_loadd(7, right + kPairRow / 2, kPairRow * 2);
  for (int part = left.parts - 1; part >= 0; --part) {
    const bfloat16* rows = left.data + part * left.part_stride + k;
    _tile_loadd(4, rows, left.stride * 2);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (Lower) {
      _tile_loadd(5, rows + kTile * left.stride, left.stride * 2);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
}

template <bool Lower>
void multiply_panels(const TileProduct& product) {
  float* sums = product.sums;
  const bfloat16* panel = product.right.data;
  for (int64_t i = 0; i < product.panels; ++i, sums += kTileCols, panel += product.right.stride) {
    load_sums<Lower>(product.accumulate ? sums : nullptr, product.stride);
    for (int64_t k = 0; k < product.depth; k += kTileDepth)
      add_step<Lower>(product.left, k, panel + k / kTileDepth * kPanelStep);
    store_sums<Lower>(sums, product.stride);
  }
}

__m512 widened(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

__m512i load_row(const bfloat16* const* rows, int64_t row, int64_t count, int64_t c) {
  return row < count ? _mm512_loadu_si512(rows[row] + c) : _mm512_setzero_si512();
}

}  // namespace

void split_into_bf16(const float* from, int64_t stride, int64_t rows, int64_t width,
                     const TileRows& to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < width; c += 2 * kLanes) {
      __m512 low = _mm512_loadu_ps(from + r * stride + c);
      __m512 high = _mm512_loadu_ps(from + r * stride + c + kLanes);
      bfloat16* target = to.data + r * to.stride + c;
      for (int part = 0; part < to.parts; ++part, target += to.part_stride) {
        const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
        _mm512_storeu_si512(target, both);
        if (part + 1 == to.parts) break;
        low = _mm512_sub_ps(low, widened(_mm512_castsi512_si256(both)));
        high = _mm512_sub_ps(high, widened(_mm512_extracti64x4_epi64(both, 1)));
      }
    }
}

void pack_row_pairs(const bfloat16* const* rows, int64_t count, int64_t width,
                    const TilePanels& to) {
  alignas(64) static constexpr uint16_t kFirst[32] = {0,  32, 1,  33, 2,  34, 3,  35, 4,  36, 5,
                                                      37, 6,  38, 7,  39, 8,  40, 9,  41, 10, 42,
                                                      11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
  const __m512i first = _mm512_load_si512(kFirst);
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(kTile));
  for (int64_t row = 0; row < round_up(count, kTileDepth); row += 2) {
    bfloat16* target = to.data + row / 2 * kPairRow;
    for (int64_t c = 0; c < width; c += kTileCols, target += to.stride) {
      const __m512i even = load_row(rows, row, count, c);
      const __m512i odd = load_row(rows, row + 1, count, c);
      _mm512_storeu_si512(target, _mm512_permutex2var_epi16(even, first, odd));
      _mm512_storeu_si512(target + kPairRow / 2, _mm512_permutex2var_epi16(even, second, odd));
    }
  }
}

void multiply_tiles(const TileProduct& product) {
  if (product.rows > kTile) {
    configure(kTile, product.rows - kTile);
    multiply_panels<true>(product);
  } else {
    configure(product.rows, product.rows);
    multiply_panels<false>(product);
  }
}

void release_tiles() { _tile_release(); }

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#else

namespace heed::kernels::cpu {

bool has_attention_tiles() { return false; }
void split_into_bf16(const float*, int64_t, int64_t, int64_t, const TileRows&) {}
void pack_row_pairs(const bfloat16* const*, int64_t, int64_t, const TilePanels&) {}
void multiply_tiles(const TileProduct&) {}
void release_tiles() {}

}  // namespace heed::kernels::cpu

#endif
