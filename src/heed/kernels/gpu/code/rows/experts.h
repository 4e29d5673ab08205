#pragma once

// The arguments of the kernels in experts.cu.
namespace heed::kernels::gpu {

/// y[n] = the sum over k of weights[n, k] times the row of the address rows[n * top_k + k]. A block
/// of the grid has some columns (y) of a token (x).
struct CombineExpertsArguments {
  const void* const* rows;
  const float* weights;
  void* y;
  int top_k, columns;
};

}  // namespace heed::kernels::gpu
