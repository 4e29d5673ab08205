#pragma once

// The arguments of the kernels in softmax_backward.cu.
namespace heed::kernels::gpu {

/// A block a row: y, dy and dx [rows, columns] of f32 or bf16.
struct SoftmaxBackwardArguments {
  const void *y, *dy;
  void* dx;
  int columns;
};

}  // namespace heed::kernels::gpu
