#pragma once

#include <cstdint>

// The arguments of the kernels in sigmoid.cu.
namespace heed::kernels::gpu {

/// A thread an element.
struct SigmoidArguments {
  const float* x;
  float* y;
  int64_t count;
};
struct SigmoidBackwardArguments {
  const float* y;
  const float* dy;
  float* dx;
  int64_t count;
};

}  // namespace heed::kernels::gpu
