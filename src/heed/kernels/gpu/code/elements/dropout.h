#pragma once

#include <cstdint>

// The arguments of the kernels in dropout.cu.
namespace heed::kernels::gpu {

/// y = dropped x (+ residual, if there is one); `count` elements of f32 or bf16.
struct DropoutArguments {
  const void *x, *residual;
  void* y;
  long long count;
  uint64_t key;
  uint32_t threshold;  // 0: nothing is dropped
  float scale;
};

}  // namespace heed::kernels::gpu
