#pragma once

#include <cstdint>

// The arguments of the kernels in mean_rows.cu.
namespace heed::kernels::gpu {

/// A row of blocks a mean, a thread a column: y [B, columns] from x [N, columns]; backwards, x from
/// y.
struct MeanRowsArguments {
  float* x;
  float* y;
  const int32_t* offsets;  // [B + 1]
  int64_t columns;
};

}  // namespace heed::kernels::gpu
