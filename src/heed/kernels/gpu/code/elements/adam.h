#pragma once

#include <cstdint>

// The arguments of the kernels in adam.cu.
namespace heed::kernels::gpu {

/// One parameter: its arrays, and the first block that computes its elements. `gradient` may be
/// null, which means zeros.
struct AdamParameter {
  float* value;
  const float* gradient;
  float *moment1, *moment2;
  int64_t count;
  unsigned first_block;
  bool decays;
};

/// A thread computes kAdamVectors vectors of one parameter. What follows is as in
/// AdamOptions, or made of it: kept = 1 - learning_rate * weight_decay, step_size = learning_rate /
/// bias_correction1, root_correction = 1 / sqrt(bias_correction2).
struct AdamArguments {
  const AdamParameter* parameters;
  int parameters_count;
  float gradient_scale, beta1, beta2, epsilon, kept, step_size, root_correction;
};

/// Of 16 bytes of each array.
constexpr int kAdamVectors = 4;

}  // namespace heed::kernels::gpu
