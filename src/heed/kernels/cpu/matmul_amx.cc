// The bf16 micro-kernel for Intel's AMX: four tiles of 16 x 16 sums, to which an instruction adds
// the products of 32 neighbouring k. A tile of a is [16 rows, 32 k], one of b [16 pairs of k, 16
// columns, 2].
#include "heed/kernels/cpu/matmul_bf16_pack.h"
#include "heed/kernels/cpu/matmul_x86.h"

#if HEED_MATMUL_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <array>

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kTile = 16;
constexpr int64_t kRows = 2 * kTile;
constexpr int64_t kDepth = 512;
constexpr int64_t kRowBytes = 2 * kDepth + 64;
constexpr int64_t kStepBytes = 64;                             // of a row of a: 32 k
constexpr int64_t kPanelStride = kPairCols * 4;                // from pair to pair
constexpr int64_t kPanelStep = kPairDepth / 2 * kPanelStride;  // 32 k

int64_t packed_rows_bytes(int64_t rows) { return (rows + kRows) * kRowBytes; }

PackedRows pack_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
  if (!a.transposed && block.depth % kPairDepth == 0)
    return {a.at(block.row, block.k), 2 * a.stride, false};
  pack_pair_rows(a, block, kRowBytes, buffer);
  return {buffer, kRowBytes, false};
}

/// Gives the tiles of a and of the sums `upper` and `lower` rows; clears all tiles.
void configure(int64_t upper, int64_t lower) {
  struct alignas(64) {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {};
  } config;
  static_assert(sizeof(config) == 64);
  const auto high = static_cast<uint8_t>(upper), low = static_cast<uint8_t>(lower);
  // Sums: 0 1 over 2 3; a: 4 over 5; b: 6 beside 7.
  const uint8_t rows[8] = {high, high, low, low, high, low, 16, 16};
  std::copy(std::begin(rows), std::end(rows), config.rows);
  __asm__ volatile("" ::: "memory");
  _tile_loadconfig(&config);
}

/// Where the sums of two tiles beside each other, or four, start from or go to.
struct Place {
  float* at;
  int64_t row_bytes;
};

template <bool Lower>
void start_sums(const Strip& strip, int64_t row) {
  if (!strip.start) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (Lower) {
      _tile_zero(2);
      _tile_zero(3);
    }
    return;
  }
  const float* start = strip.start + row * strip.start_stride;
  const int64_t bytes = strip.start_stride * 4;
  _tile_loadd(0, start, bytes);
  _tile_loadd(1, start + kTile, bytes);
  if constexpr (Lower) {
    _tile_loadd(2, start + kTile * strip.start_stride, bytes);
    _tile_loadd(3, start + kTile * strip.start_stride + kTile, bytes);
  }
}

template <bool Lower>
void store_sums(float* to, int64_t stride) {
  _tile_stored(0, to, stride * 4);
  _tile_stored(1, to + kTile, stride * 4);
  if constexpr (Lower) {
    _tile_stored(2, to + kTile * stride, stride * 4);
    _tile_stored(3, to + kTile * stride + kTile, stride * 4);
  }
}

/// c [rows, 32] = start + a b for the rows from `row` on; at most 16 unless Lower.
template <bool Lower>
void multiply_rows(const Strip& strip, int64_t row, int64_t rows) {
  const int64_t row_bytes = strip.a.row_bytes;
  const std::byte* a = strip.a.data + row * row_bytes;
  const std::byte* b = strip.panel;
  start_sums<Lower>(strip, row);
  for (int64_t k = 0; k < strip.depth; k += kPairDepth, a += kStepBytes, b += kPanelStep) {
    _tile_loadd(4, a, row_bytes);
    _tile_loadd(6, b, kPanelStride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + kPanelStride / 2, kPanelStride);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (Lower) {
      _tile_loadd(5, a + kTile * row_bytes, row_bytes);
      _tile_dpbf16ps(2, 5, 6);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  if (strip.c_type == DType::f32) {
    store_sums<Lower>(reinterpret_cast<float*>(strip.c) + row * strip.c_stride, strip.c_stride);
    return;
  }
  alignas(64) float sums[kRows * kPairCols];
  store_sums<Lower>(sums, kPairCols);
  auto* to = reinterpret_cast<bfloat16*>(strip.c) + row * strip.c_stride;
  for (int64_t r = 0; r < rows; ++r, to += strip.c_stride) {
    const __m512 left = _mm512_load_ps(sums + r * kPairCols);
    const __m512 right = _mm512_load_ps(sums + r * kPairCols + kTile);
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left)));
  }
}

void multiply(const Strip& strip) {
  int64_t row = 0;
  if (strip.rows >= kRows) configure(kTile, kTile);
  for (; row + kRows <= strip.rows; row += kRows) multiply_rows<true>(strip, row, kRows);
  const int64_t left = strip.rows - row;
  if (left > kTile) {
    configure(kTile, left - kTile);
    multiply_rows<true>(strip, row, left);
  } else if (left > 0) {
    configure(left, left);
    multiply_rows<false>(strip, row, left);
  }
}

void finish() { _tile_release(); }

}  // namespace
}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

namespace heed::kernels::cpu {

const MicroKernel* amx_kernel() {
  static constexpr MicroKernel kernel{.name = "amx",
                                      .panel_type = DType::bf16,
                                      .rows = kRows,
                                      .cols = kPairCols,
                                      .depth = kDepth,
                                      .depth_multiple = kPairDepth,
                                      .block_rows = 512,
                                      .operations_per_microsecond = 1e6,
                                      .packed_rows_bytes = packed_rows_bytes,
                                      .pack_rows = pack_rows,
                                      .pack_panel = pack_pair_panel,
                                      .multiply = multiply,
                                      .finish = finish};
  static const bool available = has_amx_bf16();
  return available ? &kernel : nullptr;
}

}  // namespace heed::kernels::cpu

#else

namespace heed::kernels::cpu {
const MicroKernel* amx_kernel() { return nullptr; }
}  // namespace heed::kernels::cpu

#endif
