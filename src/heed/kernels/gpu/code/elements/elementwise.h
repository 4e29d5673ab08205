#pragma once

// The arguments of the kernels in elementwise.cu.
namespace heed::kernels::gpu {

/// `count` elements; a kernel's name ends in the dtypes of x and y. `factor` is for scale.
struct ElementwiseArguments {
  const void* x;
  void* y;
  long long count;
  float factor;
};

/// Neighbouring elements whose squares a block adds up.
struct SquaresChunk {
  const float* from;
  long long count;
};

/// sums_of_squares: a block a chunk. sum_of_sums: one block adds up `count` sums.
struct SumOfSquaresArguments {
  const SquaresChunk* chunks;
  double* sums;
  double* result;
  long long count;
};

}  // namespace heed::kernels::gpu
