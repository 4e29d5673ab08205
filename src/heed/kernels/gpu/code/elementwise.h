#pragma once

// The arguments of the kernels in elementwise.cu.
namespace heed::kernels::gpu {

/// `count` elements; a kernel's name ends in the dtypes of x and y. `factor` is for scale.
struct ElementwiseArguments {
  const void* x;
  void* y;
  long long count;
  float factor;
};

}  // namespace heed::kernels::gpu
