#pragma once

#include <cstdint>

// The arguments of the kernels in embedding_backward.cu.
namespace heed::kernels::gpu {

/// Block (i, c) adds some columns of the rows of the i-th token: tokens[i] has the rows
/// rows[starts[i]] to rows[starts[i + 1] - 1] of dy [N, columns], f32 or bf16, which are added in
/// this order to its row of d_table.
struct EmbeddingBackwardArguments {
  const int32_t *tokens, *starts, *rows;
  const void* dy;
  float* d_table;
  float scale;
  int columns;
};

}  // namespace heed::kernels::gpu
