#pragma once

#include <cstdint>

// The arguments of the kernels in test_kernels.cu.
namespace heed::gpu {

/// y = softmax(x) over rows of `columns`, f32; a block a row.
struct SoftmaxArguments {
  const float* x;
  float* y;
  int columns;
};

/// c [m, n] f32 = a [m, k] b [n, k]^T, bf16; m, n multiples of the tile, k of 32.
struct MatmulArguments {
  const uint16_t* a;
  const uint16_t* b;
  float* c;
  int n, k;
};

/// One product of tensor cores by one warp: c [16, 8] += a [16, k] b [8, k]^T.
struct ProductArguments {
  const void* a;
  const void* b;
  void* c;
};

}  // namespace heed::gpu
