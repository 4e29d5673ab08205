#pragma once

// The arguments of the kernel in soft_cap.cu.
namespace heed::kernels::gpu {

struct SoftCapArguments {
  float* x;
  long long count;
  float cap;
};

}  // namespace heed::kernels::gpu
