#include "heed/kernels/gpu/code/rows/relative_bias.h"

#include "heed/gpu/code/operations.h"

namespace heed::kernels::gpu {

using namespace heed::gpu;

HEED_GPU_KERNEL(relative_bias_f32, RelativeBiasArguments, in) {
  const int column = static_cast<int>(block_y() * block_threads() + thread_index());
  if (column >= in.columns) return;
  const int64_t head = block_x();
  in.y[head * in.columns + column] = in.table[int64_t{in.rows[column]} * in.n_heads + head];
}

/// A thread looks at all columns: there are few, and most buckets have many of them.
HEED_GPU_KERNEL(relative_bias_backward_f32, RelativeBiasBackwardArguments, in) {
  const int bucket = static_cast<int>(block_y() * block_threads() + thread_index());
  if (bucket >= in.buckets) return;
  const int64_t head = block_x();
  const float* const dy = in.dy + head * in.columns;
  float* const to = in.d_table + int64_t{bucket} * in.n_heads + head;
  float sum = *to;
  for (int c = 0; c < in.columns; ++c) sum = in.rows[c] == bucket ? sum + dy[c] : sum;
  *to = sum;
}

}  // namespace heed::kernels::gpu
