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

int64_t packed_rows_bytes(int64_t rows) { return (rows + 32) * kRowBytes; }

PackedRows pack_rows(const MatrixView& a, RowBlock block, std::byte* buffer) {
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

/// A strip of Rows rows and one panel. Every sum is a chain in the order of k, whatever Rows is.
template <int Rows>
void multiply_panel(const Strip& strip, const std::byte* b, const float* start, std::byte* c) {
  const std::byte* a = strip.a.data;
  __m512 left[Rows], right[Rows];
  for (int r = 0; r < Rows; ++r) {
    left[r] = start ? _mm512_loadu_ps(start + r * strip.start_stride) : _mm512_setzero_ps();
    right[r] =
        start ? _mm512_loadu_ps(start + r * strip.start_stride + kLanes) : _mm512_setzero_ps();
  }
  for (int64_t k = 0; k < strip.depth; k += 2, a += 4, b += 128) {
    if constexpr (Rows == 1) prefetch_ahead(b, 128);
    const __m512bh b0 = load_pairs(b), b1 = load_pairs(b + 64);
    for (int r = 0; r < Rows; ++r) {
      const __m512bh factor = broadcast_pair(a + r * kRowBytes);
      left[r] = _mm512_dpbf16_ps(left[r], factor, b0);
      right[r] = _mm512_dpbf16_ps(right[r], factor, b1);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    const int64_t at = r * strip.c_stride;
    if (strip.c_type == DType::f32) {
      _mm512_storeu_ps(reinterpret_cast<float*>(c) + at, left[r]);
      _mm512_storeu_ps(reinterpret_cast<float*>(c) + at + kLanes, right[r]);
    } else {
      store_bf16(left[r], reinterpret_cast<bfloat16*>(c) + at);
      store_bf16(right[r], reinterpret_cast<bfloat16*>(c) + at + kLanes);
    }
  }
}

template <int Rows>
void multiply_rows(const Strip& strip) {
  const std::byte* panel = strip.panel;
  const float* start = strip.start;
  std::byte* c = strip.c;
  for (int64_t i = 0; i < strip.panels; ++i) {
    multiply_panel<Rows>(strip, panel, start, c);
    panel += strip.panel_bytes;
    c += strip.c_panel_stride * size_of(strip.c_type);
    if (start) start += strip.start_panel_stride;
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
                                               .finish = nullptr};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
