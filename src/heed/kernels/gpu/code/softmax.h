#pragma once

// The arguments of the kernels in softmax.cu.
namespace heed::kernels::gpu {

/// A block a row: x and y [rows, columns] of f32 or bf16.
struct SoftmaxArguments {
  const void* x;
  void* y;
  int columns;
};

}  // namespace heed::kernels::gpu
