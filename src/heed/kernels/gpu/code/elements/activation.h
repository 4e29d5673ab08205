#pragma once

#include "heed/kernels/activation_function.h"

// The arguments of the kernels in activation.cu.
namespace heed::kernels::gpu {

/// y = f(x), times the factor of `up` if there is one; `count` elements of f32 or bf16.
struct ActivationArguments {
  const void *x, *up;
  void* y;
  long long count;
  Activation f;
};

}  // namespace heed::kernels::gpu
