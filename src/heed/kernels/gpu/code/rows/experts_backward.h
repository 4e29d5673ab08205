#pragma once

#include <cstdint>

// The arguments of the kernels in experts_backward.cu.
namespace heed::kernels::gpu {

/// One of a token's experts: its row of output, and of the gradient of it. f32 or bf16.
struct ExpertRow {
  const void* output;
  void* d_output;
};

/// A block for each expert of each token: row i of `rows` belongs to token i / top_k. dy [N,
/// columns] of f32 or bf16, weights and d_weights [N, top_k].
struct ExpertsBackwardArguments {
  const ExpertRow* rows;
  const void* dy;
  const float* weights;
  float* d_weights;
  int top_k, columns;
};

}  // namespace heed::kernels::gpu
