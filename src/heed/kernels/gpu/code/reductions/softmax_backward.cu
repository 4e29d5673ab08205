#include "heed/kernels/gpu/code/reductions/softmax_backward.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/numbers.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void differentiate_softmax(const SoftmaxBackwardArguments& in) {
  const int thread = static_cast<int>(thread_index()), threads = static_cast<int>(block_threads());
  const int64_t first = static_cast<int64_t>(block_x()) * in.columns;
  const T* const y = static_cast<const T*>(in.y) + first;
  const T* const dy = static_cast<const T*>(in.dy) + first;
  T* const dx = static_cast<T*>(in.dx) + first;

  float dot = 0.0f;
  for (int i = thread; i < in.columns; i += threads) dot = fmaf(wide(y[i]), wide(dy[i]), dot);
  dot = reduce_block<Sum>(dot, shared_memory<float>());
  for (int i = thread; i < in.columns; i += threads)
    dx[i] = narrow<T>(wide(y[i]) * (wide(dy[i]) - dot));
}

}  // namespace

HEED_GPU_KERNEL(softmax_backward_f32, SoftmaxBackwardArguments, in) {
  differentiate_softmax<float>(in);
}
HEED_GPU_KERNEL(softmax_backward_bf16, SoftmaxBackwardArguments, in) {
  differentiate_softmax<Bf16>(in);
}

}  // namespace heed::kernels::gpu
