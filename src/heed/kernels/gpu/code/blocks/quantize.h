#pragma once

#include <cstdint>

// The arguments of the kernels in quantize.cu.
namespace heed::kernels::gpu {

/// y [count, columns] of f32 = rows of x, which have `row_bytes`: rows[i], or all in their order if
/// `rows` is null. A thread converts four elements.
struct DequantizeArguments {
  const void* x;
  const int32_t* rows;
  float* y;
  int64_t count, columns, row_bytes;
};

}  // namespace heed::kernels::gpu
