#include "heed/kernels/gpu/code/softmax.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/numbers.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void softmax_row(const SoftmaxArguments& in) {
  float* const shared = shared_memory<float>();
  const int thread = static_cast<int>(thread_index()), threads = static_cast<int>(block_threads());
  const int64_t first = static_cast<int64_t>(block_x()) * in.columns;
  const T* const x = static_cast<const T*>(in.x) + first;
  T* const y = static_cast<T*>(in.y) + first;

  float largest = -INFINITY;
  for (int i = thread; i < in.columns; i += threads) largest = Max::apply(wide(x[i]), largest);
  largest = reduce_block<Max>(largest, shared);
  if (largest == -INFINITY) {
    for (int i = thread; i < in.columns; i += threads) y[i] = narrow<T>(0.0f);
    return;
  }
  float sum = 0.0f;
  for (int i = thread; i < in.columns; i += threads) sum += expf(wide(x[i]) - largest);
  sum = reduce_block<Sum>(sum, shared);
  for (int i = thread; i < in.columns; i += threads)
    y[i] = narrow<T>(expf(wide(x[i]) - largest) / sum);
}

}  // namespace

HEED_GPU_KERNEL(softmax_f32, SoftmaxArguments, in) { softmax_row<float>(in); }
HEED_GPU_KERNEL(softmax_bf16, SoftmaxArguments, in) { softmax_row<Bf16>(in); }

}  // namespace heed::kernels::gpu
