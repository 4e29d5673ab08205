#pragma once

// The arguments of the kernels in key_rows.cu.
namespace heed::kernels::gpu {

/// Row i of x [rows, columns] becomes row targets[i] of cached.
struct KeyRowsArguments {
  const void* x;
  void* cached;
  const int* targets;
  int rows, columns;
};

}  // namespace heed::kernels::gpu
