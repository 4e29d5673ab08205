#pragma once

namespace heed::kernels::gpu {

/// How threads share the columns of rows (row_parts.h): the warps of a block have a row each, or
/// all threads of a block have one.
struct RowShape {
  int threads;  // of a row
  int rows_of_block;
  int held;  // vectors of a thread at most: 1, 2; 0: more than it holds
};

}  // namespace heed::kernels::gpu
