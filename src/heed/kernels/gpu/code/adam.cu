#include "heed/kernels/gpu/code/adam.h"

#include "heed/kernels/gpu/code/packs.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;
using Elements = Pack<float>;

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

HEED_DEVICE void adam_pack(const AdamArguments& in, const AdamParameter& p, int64_t at) {
  const auto load = [at](const float* from) {
    return *reinterpret_cast<const Elements*>(from + at);
  };
  const Elements gradient = p.gradient ? load(p.gradient) : Elements{};
  Elements value = load(p.value), moment1 = load(p.moment1), moment2 = load(p.moment2);
  for (int i = 0; i < Elements::kCount; ++i)
    adam_element(in, p.decays, gradient.at[i], value.at[i], moment1.at[i], moment2.at[i]);
  *reinterpret_cast<Elements*>(p.value + at) = value;
  *reinterpret_cast<Elements*>(p.moment1 + at) = moment1;
  *reinterpret_cast<Elements*>(p.moment2 + at) = moment2;
}

}  // namespace

HEED_GPU_KERNEL(adam_steps, AdamArguments, in) {
  const AdamParameter p = parameter_of_block(in);
  const int threads = static_cast<int>(block_threads());
  const int each = threads * kAdamPacks * Elements::kCount;
  const int64_t begin = static_cast<int64_t>(block_x() - p.first_block) * each;
  const bool aligned = is_aligned<Elements>(p.value) && is_aligned<Elements>(p.moment1) &&
                       is_aligned<Elements>(p.moment2) && is_aligned<Elements>(p.gradient);
  const int thread = static_cast<int>(thread_index());
  if (aligned && p.count - begin >= each) {
    for (int k = 0; k < kAdamPacks; ++k)
      adam_pack(in, p, begin + (k * threads + thread) * Elements::kCount);
    return;
  }
  const int64_t end = p.count - begin < each ? p.count : begin + each;
  for (int64_t i = begin + thread; i < end; i += threads)
    adam_element(in, p.decays, p.gradient ? p.gradient[i] : 0.0f, p.value[i], p.moment1[i],
                 p.moment2[i]);
}

}  // namespace heed::kernels::gpu
