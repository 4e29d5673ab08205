#pragma once

#include "heed/kernels/cpu/gemm/kernels.h"

namespace heed::kernels::cpu {

// The layouts of bf16 factors for instructions that multiply pairs of neighbouring k: a panel is
// [K / 2, kPairCols, 2], and a packed row is contiguous in k. Both are padded with zeros to a
// multiple of kPairDepth. Needs AVX-512 (F, BW).

inline constexpr int64_t kPairCols = 32;
inline constexpr int64_t kPairDepth = 32;

/// MicroKernel::pack_panels.
void pack_pair_panels(const MatrixView& b, const PanelBlock& block, std::byte* to,
                      int64_t panel_bytes);

/// Copies a block to rows that are `row_bytes` (a multiple of 64) apart. A last, partial group of
/// 16 rows may be written whole.
void pack_pair_rows(const MatrixView& a, RowBlock block, int64_t row_bytes, std::byte* to);

/// Transposes 16 x 16 units of 4 bytes: rows of 64 bytes, `from_stride` apart, to rows `to_stride`
/// (a multiple of 64) apart.
void transpose_pairs(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride);

}  // namespace heed::kernels::cpu
