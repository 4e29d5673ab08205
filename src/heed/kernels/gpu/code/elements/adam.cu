#include "heed/kernels/gpu/code/elements/adam.h"

#include "heed/kernels/gpu/code/vectors.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;
HEED_DEVICE void adam_element(const AdamArguments& in, bool decays, float gradient, float& value,
                              float& moment1, float& moment2) {
  const float g = gradient * in.gradient_scale;
  moment1 = fmaf(1.0f - in.beta1, g, in.beta1 * moment1);
  moment2 = fmaf((1.0f - in.beta2) * g, g, in.beta2 * moment2);
  const float deviation = fmaf(sqrtf(moment2), in.root_correction, in.epsilon);
  value = (decays ? in.kept : 1.0f) * value - in.step_size * moment1 / deviation;
}

/// Whose elements this block computes: the last parameter whose first block is not after it.
HEED_DEVICE AdamParameter parameter_of_block(const AdamArguments& in) {
  int low = 0, high = in.parameters_count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (in.parameters[middle].first_block <= block_x())
      low = middle;
    else
      high = middle;
  }
  return in.parameters[low];
}

/// The elements of one vector, of which the first `exist` exist.
HEED_DEVICE void adam_vector(const AdamArguments& in, const AdamParameter& p, int64_t at,
                             int64_t exist) {
  constexpr int n = kVector<float>;
  float gradient[n] = {}, value[n], moment1[n], moment2[n];
  if (p.gradient) load_vector(p.gradient + at, exist, 0.0f, gradient);
  load_vector(p.value + at, exist, 0.0f, value);
  load_vector(p.moment1 + at, exist, 0.0f, moment1);
  load_vector(p.moment2 + at, exist, 0.0f, moment2);
  HEED_UNROLL
  for (int i = 0; i < n; ++i)
    adam_element(in, p.decays, gradient[i], value[i], moment1[i], moment2[i]);
  store_vector(value, exist, p.value + at);
  store_vector(moment1, exist, p.moment1 + at);
  store_vector(moment2, exist, p.moment2 + at);
}

}  // namespace

HEED_GPU_KERNEL(adam_steps, AdamArguments, in) {
  const AdamParameter p = parameter_of_block(in);
  const int64_t threads = block_threads();
  int64_t vector = int64_t{block_x() - p.first_block} * threads * kAdamVectors + thread_index();
  HEED_UNROLL
  for (int k = 0; k < kAdamVectors; ++k, vector += threads) {
    const int64_t at = vector * kVector<float>;
    if (at < p.count) adam_vector(in, p, at, p.count - at);
  }
}

}  // namespace heed::kernels::gpu
