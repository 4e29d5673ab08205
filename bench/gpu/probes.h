#pragma once

#include <cstdint>

// The arguments of the kernels in probes.cu.
namespace heed::gpu_bench {

/// d [16, 8] f32 = a [16, k] b [8, k]^T of bf16 for each of the blocks, a warp each, by a chain of
/// mma.m16n8k16 over k from zero.
struct ChainArguments {
  const uint16_t* a;
  const uint16_t* b;
  float* d;
  int k;
};

/// y[i] = ex2.approx(the number of bits first + i), i < the number of threads.
struct Exp2Arguments {
  float* y;
  uint32_t first;
};

struct NothingArguments {
  int nothing;
};

}  // namespace heed::gpu_bench
