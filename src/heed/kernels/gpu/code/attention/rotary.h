#pragma once

// The arguments of the kernels in rotary.cu.
namespace heed::kernels::gpu {

/// x and y [rows, heads d]; cos and sin [rows, half]. Columns [begin, begin + 2 half) of each head
/// are rotated, the others copied.
struct RotaryArguments {
  const void* x;
  void* y;
  const float *cos, *sin;
  int rows, heads, d, begin, half;
  bool interleaved;
  float direction;
};

}  // namespace heed::kernels::gpu
