#pragma once

#include <cstdint>

// The arguments of the kernels in embedding.cu.
namespace heed::kernels::gpu {

/// y [rows, columns]: rows of `table` and, if there is one, `position_table`. A block of the grid
/// has some columns (y) of a row (x).
struct EmbeddingArguments {
  const int32_t *tokens, *positions;
  const void* table;
  const float* position_table;
  void* y;
  int columns;
  float scale;
};

}  // namespace heed::kernels::gpu
