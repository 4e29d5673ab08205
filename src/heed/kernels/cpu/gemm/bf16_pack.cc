#include "heed/kernels/cpu/gemm/bf16_pack.h"

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq")

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kLine = 64;               // bytes; a row of 32 k, or 16 pairs
constexpr int64_t kTileBytes = 16 * kLine;  // 16 rows, or columns, of 32 k

/// The lowest `count` of 32 elements.
__mmask32 lowest(int64_t count) {
  return count >= 32 ? ~__mmask32{0} : (__mmask32{1} << std::max<int64_t>(count, 0)) - 1;
}

__m512i load(const std::byte* from, __mmask32 mask) { return _mm512_maskz_loadu_epi16(mask, from); }

/// Four times 16 bytes, `stride` apart, in one vector.
__m512i gather_quarters(const std::byte* from, int64_t stride) {
  const auto quarter = [](const std::byte* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  };
  __m512i all = _mm512_castsi128_si512(quarter(from));
  all = _mm512_inserti32x4(all, quarter(from + stride), 1);
  all = _mm512_inserti32x4(all, quarter(from + 2 * stride), 2);
  return _mm512_inserti32x4(all, quarter(from + 3 * stride), 3);
}

/// Permutes 32 elements so that unpacklo and unpackhi then give them in order.
__m512i spread(__m512i elements) {
  return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0), elements);
}

/// Packs a b that is not transposed, row by row across the panels.
void pack_plain_panels(const MatrixView& b, const PanelBlock& block, std::byte* to,
                       int64_t panel_bytes) {
  const int64_t stride = 2 * b.stride;
  const int64_t filled = round_up(block.depth, kPairDepth);
  for (int64_t i = 0; i < filled; i += 2, to += 2 * kLine) {
    const std::byte* from = b.at(block.k + i, block.col);
    for (int64_t panel = 0; panel < block.panels; ++panel, from += kLine) {
      const __mmask32 cols = lowest(b.cols - block.col - panel * kPairCols);
      const __m512i first = i < block.depth ? load(from, cols) : _mm512_setzero_si512();
      const __m512i second =
          i + 1 < block.depth ? load(from + stride, cols) : _mm512_setzero_si512();
      const __m512i even = spread(first), odd = spread(second);
      _mm512_store_si512(to + panel * panel_bytes, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(to + panel * panel_bytes + kLine, _mm512_unpackhi_epi16(even, odd));
    }
  }
}

/// Packs 16 columns of a transposed b, which is contiguous in k.
void pack_transposed_columns(const MatrixView& b, int64_t k, int64_t depth, int64_t col,
                             std::byte* to) {
  alignas(64) std::byte edge[kTileBytes];
  const int64_t cols = std::min<int64_t>(16, b.cols - col);
  for (int64_t i = 0; i < depth; i += kPairDepth, to += kPairDepth / 2 * 2 * kLine) {
    const std::byte* from = cols > 0 ? b.at(k + i, col) : nullptr;
    int64_t stride = 2 * b.stride;
    if (cols < 16 || i + kPairDepth > depth) {
      for (int64_t j = 0; j < 16; ++j)
        _mm512_store_si512(edge + j * kLine, j < cols ? load(from + j * stride, lowest(depth - i))
                                                      : _mm512_setzero_si512());
      from = edge;
      stride = kLine;
    }
    transpose_pairs(from, stride, to, 2 * kLine);
  }
}

/// Packs rows that are contiguous in k.
void copy_rows(const MatrixView& a, RowBlock block, int64_t row_bytes, std::byte* to) {
  for (int64_t r = 0; r < block.rows; ++r, to += row_bytes) {
    const std::byte* from = a.at(block.row + r, block.k);
    for (int64_t i = 0; i < block.depth; i += 32)
      _mm512_store_si512(to + 2 * i, load(from + 2 * i, lowest(block.depth - i)));
  }
}

/// Packs 32 rows and 32 k of a transposed a, which is contiguous in the rows.
void transpose_rows(const MatrixView& a, const RowBlock& block, int64_t row_bytes, std::byte* to) {
  alignas(64) std::byte low[kTileBytes], high[kTileBytes];
  const __mmask32 rows = lowest(block.rows);
  const int64_t stride = 2 * a.stride;
  const std::byte* from = a.at(block.row, block.k);
  for (int64_t pair = 0; pair < 16; ++pair, from += 2 * stride) {
    const int64_t left = block.depth - 2 * pair;
    const __m512i first = left > 0 ? load(from, rows) : _mm512_setzero_si512();
    const __m512i second = left > 1 ? load(from + stride, rows) : _mm512_setzero_si512();
    const __m512i even = spread(first), odd = spread(second);
    _mm512_store_si512(low + pair * kLine, _mm512_unpacklo_epi16(even, odd));
    _mm512_store_si512(high + pair * kLine, _mm512_unpackhi_epi16(even, odd));
  }
  transpose_pairs(low, kLine, to, row_bytes);
  if (block.rows > 16) transpose_pairs(high, kLine, to + 16 * row_bytes, row_bytes);
}

/// Prefetches 32 stored rows of a transposed a.
void prefetch(const MatrixView& a, int64_t row, int64_t k) {
  for (int64_t i = k; i < std::min(k + 32, a.cols); ++i)
    _mm_prefetch(reinterpret_cast<const char*>(a.at(row, i)), _MM_HINT_T0);
}

}  // namespace

void transpose_pairs(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride) {
  for (int64_t part = 0; part < 4; ++part, from += 16, to += 4 * to_stride) {
    const __m512i r0 = gather_quarters(from, 4 * from_stride);
    const __m512i r1 = gather_quarters(from + from_stride, 4 * from_stride);
    const __m512i r2 = gather_quarters(from + 2 * from_stride, 4 * from_stride);
    const __m512i r3 = gather_quarters(from + 3 * from_stride, 4 * from_stride);
    const __m512i low01 = _mm512_unpacklo_epi32(r0, r1), low23 = _mm512_unpacklo_epi32(r2, r3);
    const __m512i high01 = _mm512_unpackhi_epi32(r0, r1), high23 = _mm512_unpackhi_epi32(r2, r3);
    _mm512_store_si512(to, _mm512_unpacklo_epi64(low01, low23));
    _mm512_store_si512(to + to_stride, _mm512_unpackhi_epi64(low01, low23));
    _mm512_store_si512(to + 2 * to_stride, _mm512_unpacklo_epi64(high01, high23));
    _mm512_store_si512(to + 3 * to_stride, _mm512_unpackhi_epi64(high01, high23));
  }
}

void pack_pair_panels(const MatrixView& b, const PanelBlock& block, std::byte* to,
                      int64_t panel_bytes) {
  if (!b.transposed) {
    pack_plain_panels(b, block, to, panel_bytes);
    return;
  }
  for (int64_t panel = 0; panel < block.panels; ++panel, to += panel_bytes) {
    const int64_t col = block.col + panel * kPairCols;
    pack_transposed_columns(b, block.k, block.depth, col, to);
    pack_transposed_columns(b, block.k, block.depth, col + 16, to + kLine);
  }
}

void pack_pair_rows(const MatrixView& a, RowBlock block, int64_t row_bytes, std::byte* to) {
  if (!a.transposed) {
    copy_rows(a, block, row_bytes, to);
    return;
  }
  // Across the rows first: the order of memory.
  for (int64_t i = 0; i < block.depth; i += 32)
    for (int64_t r = 0; r < block.rows; r += 32) {
      prefetch(a, block.row + r, block.k + i + 32);
      transpose_rows(a,
                     {block.row + r, std::min<int64_t>(32, block.rows - r), block.k + i,
                      std::min<int64_t>(32, block.depth - i)},
                     row_bytes, to + r * row_bytes + 2 * i);
    }
}

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
