#include "heed/kernels/adam.h"

#include <cmath>

namespace heed::kernels::reference {
namespace {

void step(const AdamState& state, const AdamOptions& options) {
  const double decay = state.decays ? options.weight_decay : 0.0f;
  for (int64_t i = 0; i < state.value.elements(); ++i) {
    const float gradient = state.gradient.defined() ? state.gradient.data<float>()[i] : 0.0f;
    float& moment1 = state.moment1.data<float>()[i];
    float& moment2 = state.moment2.data<float>()[i];
    float& value = state.value.data<float>()[i];
    const double g = static_cast<double>(gradient) * options.gradient_scale;
    const double m = options.beta1 * static_cast<double>(moment1) + (1.0 - options.beta1) * g;
    const double v = options.beta2 * static_cast<double>(moment2) + (1.0 - options.beta2) * g * g;
    const double decayed = value - static_cast<double>(options.learning_rate) * decay * value;
    const double deviation = std::sqrt(v) / std::sqrt(options.bias_correction2) + options.epsilon;
    value = static_cast<float>(decayed -
                               options.learning_rate / options.bias_correction1 * m / deviation);
    moment1 = static_cast<float>(m);
    moment2 = static_cast<float>(v);
  }
  state.gradient = {};
}

}  // namespace

void adam_steps(std::span<const AdamState> states, const AdamOptions& options) {
  for (const AdamState& state : states) step(state, options);
}

}  // namespace heed::kernels::reference
