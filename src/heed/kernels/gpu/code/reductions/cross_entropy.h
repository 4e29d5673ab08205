#pragma once

#include <cstdint>

// The arguments of the kernels in cross_entropy.cu.
namespace heed::kernels::gpu {

/// A block a row: logits [rows, columns], the class targets[n] of each row, losses [rows, 2],
/// d_logits [rows, columns] of f32 or bf16, or null.
struct CrossEntropyArguments {
  const float* logits;
  const int32_t* targets;
  float* losses;
  void* d_logits;
  int columns;
  float label_smoothing, gradient_scale, soft_cap;
};

}  // namespace heed::kernels::gpu
