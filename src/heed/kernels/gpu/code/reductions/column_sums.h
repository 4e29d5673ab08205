#pragma once

// The arguments of the kernels in column_sums.cu.
namespace heed::kernels::gpu {

/// Rows that a block adds up; its 8 warps take turns.
constexpr int kColumnSumRows = 256;
constexpr int kColumnSumWarps = 8;

/// x [rows, columns], sums [columns]. Pieces of kColumnSumRows rows are added up to parts
/// [pieces, columns], and those, in order, to `sums`; with one piece `parts` is null.
struct ColumnSumsArguments {
  const void* x;
  float *parts, *sums;
  long long rows;
  int columns, pieces;
};

}  // namespace heed::kernels::gpu
