#include "heed/kernels/gpu/code/reductions/pool_rows.h"

#include "heed/gpu/code/operations.h"

namespace heed::kernels::gpu {

using namespace heed::gpu;

HEED_GPU_KERNEL(sum_rows_f32, SumRowsArguments, in) {
  const int64_t column = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (column >= in.columns) return;
  const int64_t begin = in.offsets[block_y()], end = in.offsets[block_y() + 1];
  float sum = 0.0f;
  for (int64_t n = begin; n < end; ++n) sum += in.weights[n] * in.x[n * in.columns + column];
  in.y[block_y() * in.columns + column] = sum;
}

HEED_GPU_KERNEL(sum_rows_backward_f32, SumRowsArguments, in) {
  const int64_t column = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (column >= in.columns) return;
  const int64_t begin = in.offsets[block_y()], end = in.offsets[block_y() + 1];
  const float gradient = in.y[block_y() * in.columns + column];
  for (int64_t n = begin; n < end; ++n) in.x[n * in.columns + column] += in.weights[n] * gradient;
}

HEED_GPU_KERNEL(max_rows_f32, MaxRowsArguments, in) {
  const int64_t column = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (column >= in.columns) return;
  const int64_t begin = in.offsets[block_y()], end = in.offsets[block_y() + 1];
  float largest = in.x[begin * in.columns + column];
  for (int64_t n = begin + 1; n < end; ++n) {
    const float value = in.x[n * in.columns + column];
    if (value > largest) largest = value;
  }
  in.y[block_y() * in.columns + column] = largest;
}

HEED_GPU_KERNEL(max_rows_backward_f32, MaxRowsArguments, in) {
  const int64_t column = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (column >= in.columns) return;
  const int64_t begin = in.offsets[block_y()], end = in.offsets[block_y() + 1];
  const int64_t group = block_y() * in.columns + column;
  for (int64_t n = begin; n < end; ++n) {
    if (in.x[n * in.columns + column] != in.y[group]) continue;
    in.dx[n * in.columns + column] += in.dy[group];
    return;
  }
}

}  // namespace heed::kernels::gpu
