#pragma once

#include <cstdint>

// The arguments of the kernels in norm_backward.cu.
namespace heed::kernels::gpu {

/// A warp a row: x, dy and dx [rows, columns] of f32 or bf16, weight [columns]. stats [rows, 2] are
/// mean and inverse if rows are centred, else [rows, 1], inverse alone.
struct NormBackwardArguments {
  const void *x, *dy;
  const float *weight, *stats;
  void* dx;
  int64_t rows;
  int columns;
  bool centred;
};

/// Block (i, p) sums some columns over part p of the rows, in their order: weight_parts[p, d] = the
/// sum of dy (x - mean) inverse, bias_parts[p, d] = the sum of dy. stats as above; rows are centred
/// if bias_parts is not null.
struct NormPartsArguments {
  const void *x, *dy;
  const float* stats;
  float *weight_parts, *bias_parts;
  int64_t rows, rows_of_part;
  int columns;
};

/// d_weight[d] += the sum of weight_parts[p, d], in the order of p; d_bias likewise unless it is
/// null.
struct AddNormPartsArguments {
  const float *weight_parts, *bias_parts;
  float *d_weight, *d_bias;
  int parts, columns;
};

}  // namespace heed::kernels::gpu
