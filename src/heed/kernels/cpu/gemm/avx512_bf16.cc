// The bf16 micro-kernel for AVX512_BF16 (AMD Zen 4, Intel Cooper Lake): sums of 14 x 32 kept in
// registers, to which an instruction adds the products of two neighbouring k.
#include "heed/kernels/cpu/gemm/bf16_pack.h"
#include "heed/kernels/cpu/simd/prefetch.h"
#include "heed/kernels/cpu/simd/with_rows.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")

namespace heed::kernels::cpu {
namespace {

constexpr int kRows = 14;
constexpr int64_t kLanes = 16;
// A strip of rows of this depth stays in a level-1 cache while the panels pass.
constexpr int64_t kDepth = 512;
// Not a power of two, so that the rows of a block fall into different sets of a cache.
constexpr int64_t kRowBytes = 2 * kDepth + 64;
// Rows a multiple of this apart fall into few sets of a level-1 cache.
constexpr int64_t kWayBytes = 2048;

int64_t packed_rows_bytes(int64_t rows) { return (rows + 32) * kRowBytes; }

/// Plain rows are read where they are, unless they would fall into few sets of a cache or end in
/// half a pair.
PackedRows pack_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
  const int64_t row_bytes = a.stride * size_of(a.dtype);
  if (!a.transposed && row_bytes % kWayBytes != 0 && block.depth % 2 == 0)
    return {a.at(block.row, block.k), row_bytes, false};
  pack_pair_rows(a, block, kRowBytes, buffer);
  return {buffer, kRowBytes, false};
}

__m512bh broadcast_pair(const std::byte* from) {
  int32_t pair;
  std::memcpy(&pair, from, sizeof(pair));
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
}

__m512bh load_pairs(const std::byte* from) {
  return reinterpret_cast<__m512bh>(_mm512_load_si512(from));
}

void store_bf16(__m512 value, bfloat16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
}

/// What the sums of a panel start from, at `offset` elements of its first one.
struct Start {
  const float* sums;     // null: see bf16
  const bfloat16* bf16;  // null: zeros

  __m512 at(int64_t offset) const {
    if (sums) return _mm512_loadu_ps(sums + offset);
    if (!bf16) return _mm512_setzero_ps();
    const __m256i upper = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bf16 + offset));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16));
  }
  void advance(int64_t offset) {
    if (sums) sums += offset;
    if (bf16) bf16 += offset;
  }
};

/// A strip of Rows rows and the first `Vectors` vectors of columns of one panel. Every sum is a
/// chain in the order of k, whatever Rows and Vectors are.
template <int Rows, int Vectors>
void multiply_panel(const Strip& strip, const std::byte* b, const Start& start, std::byte* c) {
  const std::byte* a = strip.a.data;
  __m512 sums[Rows][Vectors];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) sums[r][v] = start.at(r * strip.start_stride + v * kLanes);
  for (int64_t k = 0; k < strip.depth; k += 2, a += 4, b += 128) {
    if constexpr (Rows == 1) prefetch_ahead(b, 128);
    __m512bh factors[Vectors];
    for (int v = 0; v < Vectors; ++v) factors[v] = load_pairs(b + 64 * v);
    for (int r = 0; r < Rows; ++r) {
      const __m512bh factor = broadcast_pair(a + r * strip.a.row_bytes);
      for (int v = 0; v < Vectors; ++v)
        sums[r][v] = _mm512_dpbf16_ps(sums[r][v], factor, factors[v]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < Vectors; ++v) {
      const int64_t at = r * strip.c_stride + v * kLanes;
      if (strip.c_type == DType::f32)
        _mm512_storeu_ps(reinterpret_cast<float*>(c) + at, sums[r][v]);
      else
        store_bf16(sums[r][v], reinterpret_cast<bfloat16*>(c) + at);
    }
}

template <int Rows>
void multiply_rows(const Strip& strip) {
  const std::byte* panel = strip.panel;
  Start start{strip.bf16_start ? nullptr : strip.start, strip.bf16_start};
  std::byte* c = strip.c;
  if (strip.cols <= kLanes) return multiply_panel<Rows, 1>(strip, panel, start, c);
  for (int64_t i = 0; i < strip.panels; ++i) {
    multiply_panel<Rows, 2>(strip, panel, start, c);
    panel += strip.panel_bytes;
    c += strip.c_panel_stride * size_of(strip.c_type);
    start.advance(strip.start_panel_stride);
  }
}

void multiply(const Strip& strip) {
  with_rows<kRows>(strip.rows, [&](auto rows) { multiply_rows<decltype(rows)::value>(strip); });
}

}  // namespace

constinit const MicroKernel avx512_bf16_kernel{.name = "avx512_bf16",
                                               .needs = Instructions::avx512_bf16,
                                               .panel_type = DType::bf16,
                                               .element_bytes = 2,
                                               .rows = kRows,
                                               .cols = kPairCols,
                                               .depth = kDepth,
                                               .transposed_depth = kDepth,
                                               .depth_multiple = kPairDepth,
                                               .max_packed_rows = 8 * kRows,
                                               .operations_per_microsecond = 3e5,
                                               .packed_rows_bytes = packed_rows_bytes,
                                               .pack_rows = pack_rows,
                                               .pack_panels = pack_pair_panels,
                                               .multiply = multiply,
                                               .starts_from_bf16 = true};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
