#include "heed/kernels/gpu/code/rows/experts_backward.h"

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/numbers.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void differentiate_expert(const ExpertsBackwardArguments& in) {
  const int64_t i = block_x();
  const T* const dy = static_cast<const T*>(in.dy) + i / in.top_k * in.columns;
  const T* const output = static_cast<const T*>(in.rows[i].output);
  T* const d_output = static_cast<T*>(in.rows[i].d_output);
  const float weight = in.weights[i];
  float dot = 0.0f;
  const int threads = static_cast<int>(block_threads());
  for (int c = static_cast<int>(thread_index()); c < in.columns; c += threads) {
    const float d = wide(dy[c]);
    dot = fmaf(d, wide(output[c]), dot);
    d_output[c] = narrow<T>(d * weight);
  }
  dot = reduce_block<Sum>(dot, shared_memory<float>());
  if (thread_index() == 0) in.d_weights[i] = dot;
}

}  // namespace

HEED_GPU_KERNEL(experts_backward_f32, ExpertsBackwardArguments, in) {
  differentiate_expert<float>(in);
}
HEED_GPU_KERNEL(experts_backward_bf16, ExpertsBackwardArguments, in) {
  differentiate_expert<Bf16>(in);
}

}  // namespace heed::kernels::gpu
