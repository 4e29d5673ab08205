#pragma once

#include <cstdint>

// The arguments of the kernels in pool_rows.cu. A row of blocks a group of rows, a thread a column:
// y [B, columns] from x [N, columns]; backwards, the gradient of x from that of y.
namespace heed::kernels::gpu {

struct SumRowsArguments {
  float* x;
  float* y;
  const int32_t* offsets;  // [B + 1]
  const float* weights;    // [N]
  int64_t columns;
};

struct MaxRowsArguments {
  const float* x;
  float* y;
  const float* dy;         // backwards
  float* dx;               // backwards
  const int32_t* offsets;  // [B + 1]
  int64_t columns;
};

}  // namespace heed::kernels::gpu
