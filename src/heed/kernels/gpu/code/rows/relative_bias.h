#pragma once

#include <cstdint>

// The arguments of the kernels in relative_bias.cu.
namespace heed::kernels::gpu {

/// A block of the grid has some columns (y) of a head (x) of y [n_heads, columns].
struct RelativeBiasArguments {
  const float* table;  // [buckets, n_heads]
  const int32_t* rows;
  float* y;
  int columns, n_heads;
};

/// A block of the grid has some buckets (y) of a head (x).
struct RelativeBiasBackwardArguments {
  const float* dy;  // [n_heads, columns]
  const int32_t* rows;
  float* d_table;  // [buckets, n_heads]
  int columns, n_heads, buckets;
};

}  // namespace heed::kernels::gpu
