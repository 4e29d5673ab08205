#pragma once

#include <cstdint>

// The arguments of the kernels in matmul_stored.cu.
namespace heed::kernels::gpu {

/// c [rows, columns] = a [rows, depth] weight [columns, depth]^T + bias. A warp computes
/// kStoredColumns columns of one row, or of kStoredRows.
struct MatmulStoredArguments {
  const float* a;
  const void* weight;
  const float* bias;  // or null
  void* c;
  int64_t weight_row_bytes, c_stride;
  int rows, columns, depth;
  bool c_is_bf16;
};
inline constexpr int kStoredColumns = 4, kStoredRows = 8;

}  // namespace heed::kernels::gpu
