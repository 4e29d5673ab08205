#pragma once

#include <cstdint>

// The arguments of the kernels in rows.cu.
namespace heed::kernels::gpu {

/// y[i] = x[rows[i]]; columns in units of the bytes in the kernel's name. A block of the grid has
/// some columns (y) of a row (x).
struct GatherRowsArguments {
  const void* x;
  const int32_t* rows;
  void* y;
  int columns;
};

/// y[targets[g]] += the rows order[starts[g]], ..., order[starts[g + 1] - 1] of x, one after the
/// other. A block of the grid has some columns (y) of a target (x).
struct AddRowsArguments {
  const void* x;
  const int32_t *order, *starts, *targets;
  void* y;
  int columns;
};

}  // namespace heed::kernels::gpu
