#include "heed/kernels/gpu/code/rows/experts.h"

#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void combine_experts(const CombineExpertsArguments& in) {
  constexpr int n = kVector<T>;
  const int column = static_cast<int>(block_y() * block_threads() + thread_index()) * n;
  if (column >= in.columns) return;
  const int exist = in.columns - column;
  const int64_t token = block_x(), first = token * in.top_k;
  float sums[n] = {};
  for (int k = 0; k < in.top_k; ++k) {
    float values[n];
    load_vector(static_cast<const T*>(in.rows[first + k]) + column, exist, 0.0f, values);
    const float weight = in.weights[first + k];
    HEED_UNROLL
    for (int i = 0; i < n; ++i) sums[i] = fmaf(weight, values[i], sums[i]);
  }
  store_vector(sums, exist, static_cast<T*>(in.y) + token * in.columns + column);
}

}  // namespace

HEED_GPU_KERNEL(combine_experts_f32, CombineExpertsArguments, in) { combine_experts<float>(in); }
HEED_GPU_KERNEL(combine_experts_bf16, CombineExpertsArguments, in) { combine_experts<Bf16>(in); }

}  // namespace heed::kernels::gpu
