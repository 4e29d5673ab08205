#pragma once

#include <cstdint>

// The arguments of the kernels in activation_backward.cu.
namespace heed::kernels::gpu {

/// x, dy and dx: `count` elements of f32 or bf16.
struct ActivationBackwardArguments {
  const void *x, *dy;
  void* dx;
  int64_t count;
};

/// All of `count` elements of f32 or bf16.
struct GatedBackwardArguments {
  const void *gate, *up, *dy;
  void *d_gate, *d_up;
  int64_t count;
};

}  // namespace heed::kernels::gpu
