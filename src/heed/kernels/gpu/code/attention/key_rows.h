#pragma once

#include <cstdint>

// The arguments of the kernels in key_rows.cu.
namespace heed::kernels::gpu {

/// Row i of x [rows, columns] becomes row targets[i] of cached. `refused` is set where q8_0 cannot
/// hold a value; null for plain types.
struct KeyRowsArguments {
  const void* x;
  void* cached;
  const int* targets;
  uint32_t* refused;
  int rows, columns;
};

}  // namespace heed::kernels::gpu
