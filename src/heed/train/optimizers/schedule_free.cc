#include "heed/train/optimizers/schedule_free.h"

#include <cmath>

#include "heed/base/parallel.h"

namespace heed::train {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements

}  // namespace

void schedule_free_step(Tensor& y, const Tensor& gradient, Tensor& z, Tensor& moment2,
                        const ScheduleFreeOptions& o) {
  const float c = o.average_weight, root_correction = 1.0f / std::sqrt(o.bias_correction2);
  const float step_of_y = o.learning_rate * (1.0f - o.beta1 * (1.0f - c));
  const float* const gradients = gradient.defined() ? gradient.data<float>() : nullptr;
  float *const ys = y.data<float>(), *const zs = z.data<float>(), *const vs = moment2.data<float>();
  parallel_for(y.elements(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float g = gradients ? gradients[i] * o.gradient_scale : 0.0f;
      vs[i] = o.beta2 * vs[i] + (1.0f - o.beta2) * g * g;
      const float direction =
          g / (std::sqrt(vs[i]) * root_correction + o.epsilon) + o.weight_decay * ys[i];
      ys[i] += c * (zs[i] - ys[i]) - step_of_y * direction;
      zs[i] -= o.learning_rate * direction;
    }
  });
}

void schedule_free_average(Tensor& y, const Tensor& z, float beta1) {
  float* const ys = y.data<float>();
  const float* const zs = z.data<float>();
  parallel_for(y.elements(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ys[i] += (1.0f - 1.0f / beta1) * (zs[i] - ys[i]);
  });
}

}  // namespace heed::train
