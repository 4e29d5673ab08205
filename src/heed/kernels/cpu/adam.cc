#include "heed/kernels/adam.h"

#include <cmath>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/pieces.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/adam.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Arrays {
  float *value, *gradient, *moment1, *moment2;
  bfloat16* working;
};

void adam_piece(const Arrays& p, const AdamOptions& options, int64_t begin, int64_t end) {
  const V32 gradient_scale = set(options.gradient_scale);
  const V32 beta1 = set(options.beta1), beta2 = set(options.beta2);
  const V32 new1 = set(1.0f - options.beta1), new2 = set(1.0f - options.beta2);
  const V32 root_correction = set(1.0f / std::sqrt(options.bias_correction2));
  const V32 epsilon = set(options.epsilon);
  const V32 kept = set(1.0f - options.learning_rate * options.weight_decay);
  const V32 step_size = set(options.learning_rate / options.bias_correction1);
  for_lanes(begin, end, [&](auto at) HEED_LANES {
    const auto g = hn::Mul(load(p.gradient, at), gradient_scale);
    const auto m = hn::MulAdd(new1, g, hn::Mul(beta1, load(p.moment1, at)));
    const auto v = hn::MulAdd(hn::Mul(new2, g), g, hn::Mul(beta2, load(p.moment2, at)));
    const auto deviation = hn::MulAdd(hn::Sqrt(v), root_correction, epsilon);
    const auto step = hn::Div(hn::Mul(step_size, m), deviation);
    const auto value = hn::Sub(hn::Mul(kept, load(p.value, at)), step);
    store(value, p.value, at);
    store(m, p.moment1, at);
    store(v, p.moment2, at);
    store(hn::Zero(F32()), p.gradient, at);
    if (p.working) store(value, p.working, at);
  });
}

}  // namespace

void adam_step(AdamState state, const AdamOptions& options) {
  const Arrays arrays{state.value.data<float>(), state.gradient.data<float>(),
                      state.moment1.data<float>(), state.moment2.data<float>(),
                      state.working.defined() ? state.working.data<bfloat16>() : nullptr};
  parallel_for(state.value.elements(), kHeavyPiece,
               [&](int64_t begin, int64_t end) { adam_piece(arrays, options, begin, end); });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HEED_CPU_KERNEL(void, adam_step, (AdamState state, const AdamOptions& options), (state, options))

}  // namespace heed::kernels
#endif  // HWY_ONCE
