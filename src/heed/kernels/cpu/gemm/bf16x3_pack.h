#pragma once

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/kernels.h"

namespace heed::kernels::cpu {

// bf16x3: f32 numbers as sums of three bf16 parts. The first part is the nearest bf16, the second
// the nearest to the difference, and the third the rest, which is exactly a bf16 unless it is too
// small for one. Numbers beyond 3.39e38, and infinities, become NaN.
//
// A group of rows of a, and a panel of b, is a sequence of steps of kBf16x3Depth k, padded with
// zeros. A step of a is [3 parts, kBf16x3Rows, 16 pairs, 2], one of b [3 parts, 16 pairs,
// kBf16x3Cols, 2]; pair i holds the k i and 16 + i of the step. Needs AVX-512 (F, BW).

inline constexpr int64_t kBf16x3Rows = 32, kBf16x3Cols = 32, kBf16x3Depth = 32;
inline constexpr int64_t kBf16x3Parts = 3;
inline constexpr int64_t kBf16x3PartBytes = 2 * kBf16x3Rows * kBf16x3Depth;
inline constexpr int64_t kBf16x3StepBytes = kBf16x3Parts * kBf16x3PartBytes;
/// Bytes of a step of an f32 panel.
inline constexpr int64_t kF32StepBytes = kBf16x3Depth * kBf16x3Cols * 4;

/// Bytes of a group of rows, or of a panel, of `depth` k.
constexpr int64_t bf16x3_bytes(int64_t depth) {
  return ceil_div(depth, kBf16x3Depth) * kBf16x3StepBytes;
}

/// MicroKernel::pack_panels.
void pack_bf16x3_panels(const MatrixView& b, const PanelBlock& block, std::byte* to,
                        int64_t panel_bytes);

/// MicroKernel::pack_f32_panel: two thirds of the bytes of a panel.
void pack_bf16x3_f32_panel(const MatrixView& b, int64_t col, std::byte* to);

/// Splits a step of an f32 panel, of which `depth` k exist: fewer than kBf16x3Depth at the end.
void split_f32_step(const float* columns, int64_t depth, std::byte* to);

/// Packs the groups of a block, `group_bytes` apart. Of a last, partial group, rows up to a
/// multiple of 16 are written.
void pack_bf16x3_rows(const MatrixView& a, RowBlock block, int64_t group_bytes, std::byte* to);

}  // namespace heed::kernels::cpu
