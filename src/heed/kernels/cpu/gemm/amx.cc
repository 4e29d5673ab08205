// The micro-kernels for Intel's AMX: four tiles of 16 x 16 sums, to which an instruction adds the
// products of 32 neighbouring k. A tile of a is [16 rows, 32 k], one of b [16 pairs of k, 16
// columns, 2]. f32 factors are split into three bf16 parts (bf16x3).
#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/bf16_pack.h"
#include "heed/kernels/cpu/gemm/bf16x3_pack.h"
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
static_assert(kRows == kBf16x3Rows && kPairCols == kBf16x3Cols && kPairDepth == kBf16x3Depth);

constexpr int64_t kBf16x3PassDepth = 640;

int64_t packed_rows_bytes(int64_t rows) { return (rows + kRows) * kRowBytes; }

PackedRows pack_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
  if (!a.transposed && block.depth % kPairDepth == 0)
    return {a.at(block.row, block.k), 2 * a.stride, false};
  pack_pair_rows(a, block, kRowBytes, buffer);
  return {buffer, kRowBytes, false};
}

int64_t packed_bf16x3_bytes(int64_t rows) {
  return ceil_div(rows, kRows) * bf16x3_bytes(kBf16x3PassDepth);
}

PackedRows pack_rows_bf16x3(const MatrixView& a, RowBlock block, std::byte* buffer) {
  const int64_t group_bytes = bf16x3_bytes(block.depth);
  pack_bf16x3_rows(a, block, group_bytes, buffer);
  return {buffer, group_bytes / kRows, false};
}

/// Adds the products of a panel. It is loaded with a streaming hint, so that it does not displace
/// the rows of a from the level-1 cache, where the next panel needs them.
template <bool Lower>
void add_products(const Strip& strip, const std::byte* panel) {
  const std::byte* a = strip.a.data;
  const int64_t row_bytes = strip.a.row_bytes;
  for (int64_t k = 0; k < strip.depth; k += kPairDepth, a += kStepBytes, panel += kPanelStep) {
    if constexpr (!Lower) prefetch_ahead(panel, kPanelStep);  // few rows: memory-bound
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

/// The bf16 parts of a number, from the largest to the smallest.
enum Part { kFirst, kSecond, kThird };

template <bool Lower>
void load_rows(const std::byte* step, Part part) {
  _tile_loadd(4, step + part * kBf16x3PartBytes, kStepBytes);
  if constexpr (Lower)
    _tile_loadd(5, step + part * kBf16x3PartBytes + kTile * kStepBytes, kStepBytes);
}

void load_cols(const std::byte* step, Part part) {
  _tile_loadd(6, step + part * kBf16x3PartBytes, kPanelStride);
  _tile_loadd(7, step + part * kBf16x3PartBytes + kPanelStride / 2, kPanelStride);
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

/// Adds the products of the parts of 32 k, the largest last, which is rounded to the sum's size.
/// The products second x third, third x second and third x third are below that rounding. Each
/// product loads the tiles of one side only.
template <bool Lower>
void add_bf16x3_step(const std::byte* a, const std::byte* b) {
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
void add_bf16x3_products(const Strip& strip, const std::byte* panel) {
  const std::byte* a = strip.a.data;
  for (int64_t k = 0; k < strip.depth; k += kBf16x3Depth) {
    add_bf16x3_step<Lower>(a, panel);
    a += kBf16x3StepBytes;
    panel += kBf16x3StepBytes;
  }
}

/// The same for an f32 panel, split step by step: with few rows a step is used once, and stays in
/// the level-1 cache.
template <bool Lower>
void add_f32_panel_products(const Strip& strip, const std::byte* panel) {
  alignas(64) std::byte step[kBf16x3StepBytes];
  const std::byte* a = strip.a.data;
  for (int64_t k = 0; k < strip.depth; k += kBf16x3Depth) {
    prefetch_ahead(panel, kF32StepBytes);
    split_f32_step(reinterpret_cast<const float*>(panel), strip.depth - k, step);
    // GCC's tile intrinsics do not tell it all that they read.
    __asm__ volatile("" : : "r"(step) : "memory");
    add_bf16x3_step<Lower>(a, step);
    a += kBf16x3StepBytes;
    panel += kF32StepBytes;
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
    c += strip.c_panel_stride * element;
    if (start) start += strip.start_panel_stride;
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

void multiply_bf16x3(const Strip& strip) {
  multiply_by(strip, add_bf16x3_products<true>, add_bf16x3_products<false>);
}

void multiply_f32_panels(const Strip& strip) {
  multiply_by(strip, add_f32_panel_products<true>, add_f32_panel_products<false>);
}

void finish() { _tile_release(); }

}  // namespace

constinit const MicroKernel amx_kernel{.name = "amx",
                                       .needs = Instructions::amx_bf16,
                                       .panel_type = DType::bf16,
                                       .element_bytes = 2,
                                       .rows = kRows,
                                       .cols = kPairCols,
                                       .depth = kDepth,
                                       .transposed_depth = kDepth / 2,
                                       .depth_multiple = kPairDepth,
                                       .max_packed_rows = 4 * kRows,
                                       .operations_per_microsecond = 1e6,
                                       .packed_rows_bytes = packed_rows_bytes,
                                       .pack_rows = pack_rows,
                                       .pack_panels = pack_pair_panels,
                                       .multiply = multiply,
                                       .finish = finish};

constinit const MicroKernel amx_bf16x3_kernel{.name = "amx_bf16x3",
                                              .needs = Instructions::amx_bf16,
                                              .panel_type = DType::f32,
                                              .element_bytes = 2 * kBf16x3Parts,
                                              .rows = kRows,
                                              .cols = kBf16x3Cols,
                                              .depth = kBf16x3PassDepth,
                                              .transposed_depth = kBf16x3PassDepth,
                                              .depth_multiple = kBf16x3Depth,
                                              .max_packed_rows = 4 * kRows,
                                              .operations_per_microsecond = 3e5,
                                              .packed_rows_bytes = packed_bf16x3_bytes,
                                              .pack_rows = pack_rows_bf16x3,
                                              .pack_panels = pack_bf16x3_panels,
                                              .pack_f32_panel = pack_bf16x3_f32_panel,
                                              .multiply = multiply_bf16x3,
                                              .multiply_f32_panels = multiply_f32_panels,
                                              .finish = finish};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
