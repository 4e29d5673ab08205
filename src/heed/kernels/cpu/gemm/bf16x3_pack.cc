#include "heed/kernels/cpu/gemm/bf16x3_pack.h"

#include "heed/kernels/cpu/gemm/bf16_pack.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <hwy/base.h>
#include <immintrin.h>

#include <algorithm>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq")

namespace heed::kernels::cpu {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kLine = 64;  // bytes of a vector
static_assert(kBf16x3Depth == 2 * kLanes && kBf16x3Rows == kBf16x3Cols);

/// The lowest `count` of 16 elements.
__mmask16 lowest(int64_t count) {
  return static_cast<__mmask16>((1u << std::clamp<int64_t>(count, 0, kLanes)) - 1);
}

__m512 load(const float* from, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, from); }
__m512 load(const bfloat16* from, __mmask16 mask) {
  const __m512i bits = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

/// The nearest bf16, as f32; ties go to the larger magnitude.
__m512i nearest(__m512 x) {
  const __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_and_si512(rounded, _mm512_set1_epi32(static_cast<int>(0xffff0000)));
}

/// Stores the parts of a vector of pairs, kBf16x3PartBytes apart.
HWY_INLINE void store_pairs(__m512 first, __m512 second, std::byte* to) {
  for (int64_t part = 0; part < kBf16x3Parts; ++part, to += kBf16x3PartBytes) {
    const bool last = part + 1 == kBf16x3Parts;
    const __m512i x = last ? _mm512_castps_si512(first) : nearest(first);
    const __m512i y = last ? _mm512_castps_si512(second) : nearest(second);
    // The rest after two parts has 16 trailing zeros unless it is subnormal.
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    _mm512_store_si512(to, _mm512_ternarylogic_epi32(_mm512_srli_epi32(x, 16), y, upper, 0xf8));
    first = _mm512_sub_ps(first, _mm512_castsi512_ps(x));
    second = _mm512_sub_ps(second, _mm512_castsi512_ps(y));
  }
}

/// Transposes 16 x 16 numbers, rows `stride` elements apart, of which only `rows` and `cols` exist.
template <typename T>
void transpose(const T* from, int64_t stride, int64_t rows, int64_t cols, float* to) {
  alignas(64) float edge[kLanes * kLanes];
  const auto transpose_whole = [&](const float* source, int64_t row_bytes) {
    transpose_pairs(reinterpret_cast<const std::byte*>(source), row_bytes,
                    reinterpret_cast<std::byte*>(to), kLine);
  };
  if constexpr (sizeof(T) == sizeof(float))
    if (rows >= kLanes && cols >= kLanes) return transpose_whole(from, stride * int64_t{sizeof(T)});
  for (int64_t r = 0; r < kLanes; ++r)
    _mm512_store_ps(edge + r * kLanes,
                    r < rows ? load(from + r * stride, lowest(cols)) : _mm512_setzero_ps());
  transpose_whole(edge, kLine);
}

/// Packs a step of 16 columns of a b that is not transposed; only `depth` rows and `cols` columns
/// exist.
template <typename T>
void pack_plain(const T* from, int64_t stride, int64_t depth, int64_t cols, std::byte* to) {
  const __mmask16 mask = lowest(cols);
  for (int64_t i = 0; i < kLanes; ++i, from += stride, to += 2 * kLine)
    store_pairs(i < depth ? load(from, mask) : _mm512_setzero_ps(),
                kLanes + i < depth ? load(from + kLanes * stride, mask) : _mm512_setzero_ps(), to);
}

/// Prefetches such a step two steps ahead; hardware prefetchers do not follow this order.
template <typename T>
void prefetch_step(const T* from, int64_t stride) {
  for (int64_t i = 2 * kBf16x3Depth; i < 3 * kBf16x3Depth; ++i)
    _mm_prefetch(reinterpret_cast<const char*>(from + i * stride), _MM_HINT_T0);
}

/// Packs a step of 16 columns of a transposed b.
template <typename T>
void pack_transposed(const T* from, int64_t stride, int64_t depth, int64_t cols, std::byte* to) {
  alignas(64) float transposed[kBf16x3Depth * kLanes];
  transpose(from, stride, cols, depth, transposed);
  transpose(from + kLanes, stride, cols, depth - kLanes, transposed + kLanes * kLanes);
  for (int64_t i = 0; i < kLanes; ++i, to += 2 * kLine)
    store_pairs(_mm512_load_ps(transposed + i * kLanes),
                _mm512_load_ps(transposed + (kLanes + i) * kLanes), to);
}

template <typename T>
void pack_panels_of(const MatrixView& b, const PanelBlock& block, std::byte* to,
                    int64_t panel_bytes) {
  for (int64_t i = 0; i < block.depth; i += kBf16x3Depth, to += kBf16x3StepBytes)
    for (int64_t half = 0; half < 2 * block.panels; ++half) {
      const int64_t col = block.col + half * kLanes;
      const T* from = reinterpret_cast<const T*>(b.data);
      std::byte* part = to + half / 2 * panel_bytes + half % 2 * kLine;
      const int64_t depth = block.depth - i, cols = std::max<int64_t>(b.cols - col, 0);
      if (b.transposed) {
        pack_transposed(from + col * b.stride + block.k + i, b.stride, depth, cols, part);
      } else {
        const T* step = from + (block.k + i) * b.stride + col;
        prefetch_step(step, b.stride);
        pack_plain(step, b.stride, depth, cols, part);
      }
    }
}

/// 16 columns of an f32 panel of a transposed b.
template <typename T>
void pack_f32_transposed(const T* from, int64_t stride, int64_t depth, int64_t cols, float* to) {
  alignas(64) float transposed[kLanes * kLanes];
  for (int64_t k = 0; k < depth; k += kLanes) {
    transpose(from + k, stride, cols, depth - k, transposed);
    for (int64_t i = 0; i < std::min(kLanes, depth - k); ++i, to += kBf16x3Cols)
      _mm512_store_ps(to, _mm512_load_ps(transposed + i * kLanes));
  }
}

template <typename T>
void pack_f32_panel_of(const MatrixView& b, int64_t first, float* to) {
  for (int64_t col = first; col < first + kBf16x3Cols; col += kLanes, to += kLanes) {
    const T* from = reinterpret_cast<const T*>(b.data);
    const int64_t cols = std::max<int64_t>(b.cols - col, 0);
    if (b.transposed)
      pack_f32_transposed(from + col * b.stride, b.stride, b.rows, cols, to);
    else
      for (int64_t k = 0; k < b.rows; ++k)
        _mm512_store_ps(to + k * kBf16x3Cols, load(from + k * b.stride + col, lowest(cols)));
  }
}

/// Packs rows that are contiguous in k.
template <typename T>
void pack_plain_rows(const T* from, int64_t stride, const RowBlock& block, int64_t group_bytes,
                     std::byte* to) {
  for (int64_t r = 0; r < block.rows; ++r, from += stride) {
    std::byte* line = to + r / kBf16x3Rows * group_bytes + r % kBf16x3Rows * kLine;
    for (int64_t i = 0; i < block.depth; i += kBf16x3Depth, line += kBf16x3StepBytes)
      store_pairs(load(from + i, lowest(block.depth - i)),
                  load(from + i + kLanes, lowest(block.depth - i - kLanes)), line);
  }
}

/// Packs a step of 16 rows of a transposed a.
template <typename T>
void pack_transposed_rows(const T* from, int64_t stride, int64_t rows, int64_t depth,
                          std::byte* to) {
  alignas(64) float transposed[2][kLanes * kLanes];
  transpose(from, stride, depth, rows, transposed[0]);
  transpose(from + kLanes * stride, stride, depth - kLanes, rows, transposed[1]);
  for (int64_t r = 0; r < kLanes; ++r, to += kLine)
    store_pairs(_mm512_load_ps(transposed[0] + r * kLanes),
                _mm512_load_ps(transposed[1] + r * kLanes), to);
}

template <typename T>
void pack_rows_of(const MatrixView& a, RowBlock block, int64_t group_bytes, std::byte* to) {
  const T* from = reinterpret_cast<const T*>(a.at(block.row, block.k));
  if (!a.transposed) return pack_plain_rows(from, a.stride, block, group_bytes, to);
  for (int64_t i = 0; i < block.depth; i += kBf16x3Depth, to += kBf16x3StepBytes)
    for (int64_t r = 0; r < block.rows; r += kLanes)
      pack_transposed_rows(from + i * a.stride + r, a.stride, std::min(kLanes, block.rows - r),
                           block.depth - i,
                           to + r / kBf16x3Rows * group_bytes + r % kBf16x3Rows * kLine);
}

}  // namespace

void pack_bf16x3_panels(const MatrixView& b, const PanelBlock& block, std::byte* to,
                        int64_t panel_bytes) {
  if (b.dtype == DType::f32)
    pack_panels_of<float>(b, block, to, panel_bytes);
  else
    pack_panels_of<bfloat16>(b, block, to, panel_bytes);
}

void split_f32_step(const float* columns, int64_t depth, std::byte* to) {
  for (int64_t half = 0; half < 2; ++half)
    pack_plain(columns + half * kLanes, kBf16x3Cols, depth, kLanes, to + half * kLine);
}

void pack_bf16x3_f32_panel(const MatrixView& b, int64_t col, std::byte* to) {
  if (b.dtype == DType::f32)
    pack_f32_panel_of<float>(b, col, reinterpret_cast<float*>(to));
  else
    pack_f32_panel_of<bfloat16>(b, col, reinterpret_cast<float*>(to));
}

void pack_bf16x3_rows(const MatrixView& a, RowBlock block, int64_t group_bytes, std::byte* to) {
  if (a.dtype == DType::f32)
    pack_rows_of<float>(a, block, group_bytes, to);
  else
    pack_rows_of<bfloat16>(a, block, group_bytes, to);
}

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
