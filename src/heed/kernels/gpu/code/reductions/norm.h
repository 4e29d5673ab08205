#pragma once

#include "heed/kernels/gpu/code/reductions/row_shape.h"

// The arguments of the kernels in norm.cu.
namespace heed::kernels::gpu {

/// x and y [rows, columns] of f32 or bf16, weight and bias [columns], stats [rows, 2], or [rows, 1]
/// where there is no bias.
struct NormArguments {
  const void* x;
  const float *weight, *bias;
  void* y;
  float* stats;
  long long rows;
  int columns;
  float epsilon;
  RowShape shape;
};

}  // namespace heed::kernels::gpu
