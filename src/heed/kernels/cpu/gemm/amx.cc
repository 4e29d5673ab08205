// The micro-kernels for Intel's AMX: four tiles of 16 x 16 sums, to which an instruction adds the
// products of 32 neighbouring k. A tile of a is [16 rows, 32 k], one of b [16 pairs of k, 16
// columns, 2]. For f32 the factors are split into parts of bf16.
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/amx_row.h"
#include "heed/kernels/cpu/gemm/bf16_pack.h"
#include "heed/kernels/cpu/gemm/bf16x3_pack.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")

#include "heed/kernels/cpu/simd/amx_tiles-inl.h"

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kRows = 2 * kTile;
// A strip of rows of this depth stays in a level-1 cache while the panels pass.
constexpr int64_t kDepth = 640;
constexpr int64_t kRowBytes = 2 * kDepth + 64;
constexpr int64_t kStepBytes = 64;                             // of a row of a: 32 k
constexpr int64_t kPanelStride = kPairCols * 4;                // from pair to pair
constexpr int64_t kPanelStep = kPairDepth / 2 * kPanelStride;  // 32 k
static_assert(kRows == kSplitRows && kPairCols == kSplitCols && kPairDepth == kSplitDepth);

// Of factors in parts: a pass ends with the tiles waiting for each other.
constexpr int64_t kSplitPassDepth = 640;

int64_t packed_rows_bytes(int64_t rows) { return (rows + kRows) * kRowBytes; }

PackedRows pack_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
  if (!a.transposed && block.depth % kPairDepth == 0)
    return {a.at(block.row, block.k), 2 * a.stride, false};
  pack_pair_rows(a, block, kRowBytes, buffer);
  return {buffer, kRowBytes, false};
}

int64_t split_rows_bytes(int64_t rows) {
  return ceil_div(rows, kRows) * split_bytes(kSplitPassDepth);
}

PackedRows split_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
  const int64_t group_bytes = split_bytes(block.depth);
  pack_split_rows(a, block, group_bytes, buffer);
  return {buffer, group_bytes / kRows, false};
}

/// Adds the products of a panel. The panel passes by without displacing the rows of a from the
/// level-1 cache, where the next panel wants them.
template <bool Lower>
void add_products(const Strip& strip, const std::byte* panel) {
  const std::byte* a = strip.a.data;
  const int64_t row_bytes = strip.a.row_bytes;
  for (int64_t k = 0; k < strip.depth; k += kPairDepth, a += kStepBytes, panel += kPanelStep) {
    if constexpr (!Lower) prefetch_behind(panel, kPanelStep);  // few rows take as long as reading b
    _tile_loadd(4, a, row_bytes);
    _tile_stream_loadd(6, panel, kPanelStride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_stream_loadd(7, panel + kPanelStride / 2, kPanelStride);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (Lower) {
      _tile_loadd(5, a + kTile * row_bytes, row_bytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
}

/// Parts of a and b, from the largest to the smallest.
enum Part { kFirst, kSecond, kThird };

template <bool Lower>
void load_rows(const std::byte* step, Part part) {
  _tile_loadd(4, step + part * kSplitPartBytes, kStepBytes);
  if constexpr (Lower)
    _tile_loadd(5, step + part * kSplitPartBytes + kTile * kStepBytes, kStepBytes);
}

void load_cols(const std::byte* step, Part part) {
  _tile_loadd(6, step + part * kSplitPartBytes, kPanelStride);
  _tile_loadd(7, step + part * kSplitPartBytes + kPanelStride / 2, kPanelStride);
}

template <bool Lower>
void add_tiles() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (Lower) {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

/// Adds the products of a step in parts, the largest last: it alone is rounded to the sum's full
/// size. Those of the second with the third part and of the third with the third are smaller than
/// that rounding. From one to the next only the tiles of one side change.
template <bool Lower>
void add_split_step(const std::byte* a, const std::byte* b) {
  load_rows<Lower>(a, kThird);
  load_cols(b, kFirst);
  add_tiles<Lower>();
  load_rows<Lower>(a, kSecond);
  add_tiles<Lower>();
  load_cols(b, kSecond);
  add_tiles<Lower>();
  load_rows<Lower>(a, kFirst);
  add_tiles<Lower>();
  load_cols(b, kThird);
  add_tiles<Lower>();
  load_cols(b, kFirst);
  add_tiles<Lower>();
}

/// Adds the products of a panel.
template <bool Lower>
void add_split_products(const Strip& strip, const std::byte* panel) {
  const std::byte* a = strip.a.data;
  for (int64_t k = 0; k < strip.depth; k += kSplitDepth) {
    add_split_step<Lower>(a, panel);
    a += kSplitStepBytes;
    panel += kSplitStepBytes;
  }
}

/// The same of kept columns. Of few rows a step of them, packed, is used but once: it need not
/// leave the level-1 cache.
template <bool Lower>
void add_kept_products(const Strip& strip, const std::byte* panel) {
  alignas(64) std::byte step[kSplitStepBytes];
  const std::byte* a = strip.a.data;
  for (int64_t k = 0; k < strip.depth; k += kSplitDepth) {
    prefetch_behind(panel, kKeptStepBytes);
    pack_kept_step(reinterpret_cast<const float*>(panel), strip.depth - k, step);
    // GCC's tile intrinsics do not tell it all that they read.
    __asm__ volatile("" : : "r"(step) : "memory");
    add_split_step<Lower>(a, step);
    a += kSplitStepBytes;
    panel += kKeptStepBytes;
  }
}

/// Rounds [rows, 32] sums.
void store_rounded(const float* sums, int64_t rows, bfloat16* to, int64_t stride) {
  for (int64_t r = 0; r < rows; ++r, sums += kPairCols, to += stride) {
    const __m512 left = _mm512_load_ps(sums), right = _mm512_load_ps(sums + kTile);
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left)));
  }
}

template <bool Lower, typename AddProducts>
void multiply_panels(const Strip& strip, const AddProducts& add) {
  const std::byte* panel = strip.panel;
  const float* start = strip.start;
  const int64_t element = size_of(strip.c_type);
  std::byte* c = strip.c;
  for (int64_t i = 0; i < strip.panels; ++i) {
    load_sums<Lower>(start, strip.start_stride);
    add(strip, panel);
    if (strip.c_type == DType::f32) {
      store_sums<Lower>(reinterpret_cast<float*>(c), strip.c_stride);
    } else {
      alignas(64) float sums[kRows * kPairCols];
      store_sums<Lower>(sums, kPairCols);
      store_rounded(sums, strip.rows, reinterpret_cast<bfloat16*>(c), strip.c_stride);
    }
    panel += strip.panel_bytes;
    c += strip.c_step * element;
    if (start) start += strip.start_step;
  }
}

template <typename WithLower, typename WithoutLower>
void multiply_by(const Strip& strip, const WithLower& with, const WithoutLower& without) {
  if (strip.rows > kTile) {
    configure(kTile, strip.rows - kTile);
    multiply_panels<true>(strip, with);
  } else {
    configure(strip.rows, strip.rows);
    multiply_panels<false>(strip, without);
  }
}

void multiply(const Strip& strip) { multiply_by(strip, add_products<true>, add_products<false>); }

void multiply_split(const Strip& strip) {
  multiply_by(strip, add_split_products<true>, add_split_products<false>);
}

void multiply_kept(const Strip& strip) {
  multiply_by(strip, add_kept_products<true>, add_kept_products<false>);
}

void finish() { _tile_release(); }

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const MicroKernel* amx_kernel() {
  static constexpr MicroKernel kernel{.name = "amx",
                                      .panel_type = DType::bf16,
                                      .element_bytes = 2,
                                      .rows = kRows,
                                      .cols = kPairCols,
                                      .depth = kDepth,
                                      .turned_depth = kDepth / 2,
                                      .depth_multiple = kPairDepth,
                                      .rows_at_once = 4 * kRows,
                                      .operations_per_microsecond = 1e6,
                                      .packed_rows_bytes = packed_rows_bytes,
                                      .pack_rows = pack_rows,
                                      .pack_panels = pack_pair_panels,
                                      .multiply = multiply,
                                      .finish = finish};
  static const bool available = has(Instructions::amx_bf16);
  return available ? &kernel : nullptr;
}

const MicroKernel* amx_split_kernel() {
  static constexpr MicroKernel kernel{.name = "amx_split",
                                      .panel_type = DType::f32,
                                      .element_bytes = 2 * kSplitParts,
                                      .rows = kRows,
                                      .cols = kSplitCols,
                                      .depth = kSplitPassDepth,
                                      .turned_depth = kSplitPassDepth,
                                      .depth_multiple = kSplitDepth,
                                      .rows_at_once = 4 * kRows,
                                      .operations_per_microsecond = 3e5,
                                      .packed_rows_bytes = split_rows_bytes,
                                      .pack_rows = split_rows,
                                      .pack_panels = pack_split_panels,
                                      .keep_columns = keep_split_columns,
                                      .multiply = multiply_split,
                                      .multiply_kept = multiply_kept,
                                      .finish = finish};
  static const bool available = has(Instructions::amx_bf16);
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const MicroKernel* amx_kernel() { return nullptr; }
const MicroKernel* amx_split_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
