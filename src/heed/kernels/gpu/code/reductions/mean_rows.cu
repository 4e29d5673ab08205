#include "heed/kernels/gpu/code/reductions/mean_rows.h"

#include "heed/gpu/code/operations.h"

namespace heed::kernels::gpu {

using namespace heed::gpu;

HEED_GPU_KERNEL(mean_rows_f32, MeanRowsArguments, in) {
  const int64_t column = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (column >= in.columns) return;
  const int64_t begin = in.offsets[block_y()], end = in.offsets[block_y() + 1];
  const float share = 1.0f / static_cast<float>(end - begin);
  float sum = 0.0f;
  for (int64_t n = begin; n < end; ++n) sum += share * in.x[n * in.columns + column];
  in.y[block_y() * in.columns + column] = sum;
}

HEED_GPU_KERNEL(mean_rows_backward_f32, MeanRowsArguments, in) {
  const int64_t column = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (column >= in.columns) return;
  const int64_t begin = in.offsets[block_y()], end = in.offsets[block_y() + 1];
  const float share = 1.0f / static_cast<float>(end - begin);
  const float gradient = share * in.y[block_y() * in.columns + column];
  for (int64_t n = begin; n < end; ++n) in.x[n * in.columns + column] += gradient;
}

}  // namespace heed::kernels::gpu
