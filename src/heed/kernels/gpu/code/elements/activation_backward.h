#pragma once

#include "heed/kernels/activation_function.h"

// The arguments of the kernels in activation_backward.cu.
namespace heed::kernels::gpu {

/// dx = dy f'(x); `count` elements of f32 or bf16.
struct ActivationBackwardArguments {
  const void *x, *dy;
  void* dx;
  long long count;
  Activation f;
};

/// d_gate and d_up are the gradients of f(gate) times the factor of `up`.
struct GatedBackwardArguments {
  const void *gate, *up, *dy;
  void *d_gate, *d_up;
  long long count;
  Activation f;
};

}  // namespace heed::kernels::gpu
