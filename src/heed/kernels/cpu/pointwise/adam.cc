#include "heed/kernels/adam.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/adam.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Arrays {
  float* value;
  const float* gradient;
  float *moment1, *moment2;
};

Arrays arrays_of(const AdamState& state) {
  const Tensor& gradient = state.gradient;
  return {state.value.data<float>(), gradient.defined() ? gradient.data<float>() : nullptr,
          state.moment1.data<float>(), state.moment2.data<float>()};
}

/// Elements [begin, end) of one parameter.
struct Chunk {
  size_t state;
  int64_t begin, end;
};

/// The chunks of all parameters, in a list whose memory is reused.
const std::vector<Chunk>& chunks_of(std::span<const AdamState> states) {
  thread_local std::vector<Chunk> chunks;
  chunks.clear();
  for (size_t i = 0; i < states.size(); ++i) {
    const int64_t count = states[i].value.elements();
    for (int64_t begin = 0; begin < count; begin += kHeavyGrain)
      chunks.push_back({i, begin, std::min(begin + kHeavyGrain, count)});
  }
  return chunks;
}

void adam_chunk(const Arrays& p, const AdamOptions& options, bool decays, int64_t begin,
                int64_t end) {
  const V32 gradient_scale = set(options.gradient_scale);
  const V32 beta1 = set(options.beta1), beta2 = set(options.beta2);
  const V32 new1 = set(1.0f - options.beta1), new2 = set(1.0f - options.beta2);
  const V32 root_correction = set(1.0f / std::sqrt(options.bias_correction2));
  const V32 epsilon = set(options.epsilon);
  const V32 kept = set(decays ? 1.0f - options.learning_rate * options.weight_decay : 1.0f);
  const V32 step_size = set(options.learning_rate / options.bias_correction1);
  for_lanes(begin, end, [&](auto at) HEED_LANES {
    auto g = hn::Zero(F32());
    if (p.gradient) g = hn::Mul(load(p.gradient, at), gradient_scale);
    const auto m = hn::MulAdd(new1, g, hn::Mul(beta1, load(p.moment1, at)));
    const auto v = hn::MulAdd(hn::Mul(new2, g), g, hn::Mul(beta2, load(p.moment2, at)));
    const auto deviation = hn::MulAdd(hn::Sqrt(v), root_correction, epsilon);
    const auto step = hn::Div(hn::Mul(step_size, m), deviation);
    const auto value = hn::Sub(hn::Mul(kept, load(p.value, at)), step);
    store(value, p.value, at);
    store(m, p.moment1, at);
    store(v, p.moment2, at);
  });
}

}  // namespace

void adam_steps(std::span<const AdamState> states, const AdamOptions& options) {
  const std::vector<Chunk>& chunks = chunks_of(states);
  parallel_for(static_cast<int64_t>(chunks.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto [state, begin, end] = chunks[static_cast<size_t>(i)];
      adam_chunk(arrays_of(states[state]), options, states[state].decays, begin, end);
    }
  });
  for (const AdamState& state : states) state.gradient = {};
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(adam_steps);
void cpu::adam_steps(std::span<const AdamState> states, const AdamOptions& options) {
  HWY_DYNAMIC_DISPATCH(adam_steps)(states, options);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
