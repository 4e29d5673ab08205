#pragma once

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/gemm/kernels.h"

namespace heed::kernels::cpu {

// The layouts of f32 factors whose products are made of those of bf16 parts. A number is the sum of
// three: the nearest bf16, the nearest to what is left, and the rest, which is a bf16 as well
// unless it is too small for one; beyond 3.39e38, and for infinities, it becomes a NaN. A group of
// rows of a, and a panel of b, is a sequence of steps of kSplitDepth k, filled up with zeros; a
// step is [3 parts, kSplitRows, 16 pairs, 2] of a, [3 parts, 16 pairs, kSplitCols, 2] of b; pair i
// holds the k numbered i and 16 + i. Needs AVX-512 (F, BW).

inline constexpr int64_t kSplitRows = 32, kSplitCols = 32, kSplitDepth = 32;
inline constexpr int64_t kSplitParts = 3;
inline constexpr int64_t kSplitPartBytes = 2 * kSplitRows * kSplitDepth;
inline constexpr int64_t kSplitStepBytes = kSplitParts * kSplitPartBytes;
/// Of a step of kept columns.
inline constexpr int64_t kKeptStepBytes = kSplitDepth * kSplitCols * 4;

/// Bytes of a group of rows, or of a panel, of `depth` k.
constexpr int64_t split_bytes(int64_t depth) {
  return ceil_div(depth, kSplitDepth) * kSplitStepBytes;
}

/// MicroKernel::pack_panels.
void pack_split_panels(const MatrixView& b, const PanelBlock& block, std::byte* to,
                       int64_t panel_bytes);

/// MicroKernel::keep_columns: two thirds of a panel's bytes.
void keep_split_columns(const MatrixView& b, int64_t col, std::byte* to);

/// A step of a panel of kept columns, of which `depth` k exist; fewer than kSplitDepth at the end.
void pack_kept_step(const float* columns, int64_t depth, std::byte* to);

/// Packs the groups of a block, `group_bytes` apart; of the rows of a last, partial group those of
/// whole sixteens.
void pack_split_rows(const MatrixView& a, RowBlock block, int64_t group_bytes, std::byte* to);

}  // namespace heed::kernels::cpu
