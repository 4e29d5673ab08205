#include "heed/kernels/gpu/code/elements/sigmoid.h"

#include "heed/gpu/code/operations.h"

namespace heed::kernels::gpu {

using namespace heed::gpu;

HEED_GPU_KERNEL(sigmoid_f32, SigmoidArguments, in) {
  const int64_t i = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (i < in.count) in.y[i] = 1.0f / (1.0f + expf(-in.x[i]));
}

HEED_GPU_KERNEL(sigmoid_backward_f32, SigmoidBackwardArguments, in) {
  const int64_t i = static_cast<int64_t>(block_x()) * block_threads() + thread_index();
  if (i < in.count) in.dx[i] = in.dy[i] * in.y[i] * (1.0f - in.y[i]);
}

}  // namespace heed::kernels::gpu
