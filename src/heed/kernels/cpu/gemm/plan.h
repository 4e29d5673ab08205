#pragma once

#include <cstdint>

#include "heed/kernels/cpu/gemm/kernels.h"

namespace heed::kernels::cpu {

/// A part of c that one thread computes over all of K.
struct Task {
  int64_t row, rows, col, cols;
};

/// How c is divided into tasks: a grid of blocks whose sizes are multiples of the micro-kernel's
/// rows and columns. The result does not depend on it.
struct Plan {
  int64_t m, n;
  int64_t row_unit, col_unit;              // the micro-kernel's rows and cols
  int64_t row_blocks = 1, col_blocks = 1;  // of the grid
  int64_t depth = 0;                       // k per pass, the same in all but the last
  bool parallel = false;
  bool pack_in_tasks = false;  // each task packs its part of b; else all of b is packed first

  int64_t tasks() const { return row_blocks * col_blocks; }
  /// Task `index`; consecutive tasks share their columns of b.
  Task task(int64_t index) const;
};

/// The plan for c [m, n] = a b with b [k, n], already packed or not, on `threads` threads.
Plan plan(const MicroKernel& kernel, const MatrixView& a, int64_t n, bool packed, int64_t threads);

}  // namespace heed::kernels::cpu
