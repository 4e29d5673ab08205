#include "heed/kernels/adam.h"

#include <cmath>
#include <vector>

#include "heed/kernels/gpu/code/elements/adam.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {

void adam_steps(std::span<const AdamState> states, const AdamOptions& options) {
  constexpr unsigned kThreads = 256;
  constexpr int64_t kElements = int64_t{kThreads} * kAdamVectors * 4;
  std::vector<AdamParameter> parameters;
  parameters.reserve(states.size());
  unsigned blocks = 0;
  for (const AdamState& state : states) {
    if (state.value.elements() == 0) continue;
    parameters.push_back({elements<float>(state.value), elements<float>(state.gradient),
                          elements<float>(state.moment1), elements<float>(state.moment2),
                          state.value.elements(), blocks, state.decays});
    blocks += blocks_for(state.value.elements(), kElements);
  }
  if (blocks > 0) {
    const Uploaded<AdamParameter> uploaded(parameters);
    launch("adam_steps", {.x = blocks, .threads = kThreads},
           AdamArguments{uploaded.data(), static_cast<int>(parameters.size()),
                         options.gradient_scale, options.beta1, options.beta2, options.epsilon,
                         1.0f - options.learning_rate * options.weight_decay,
                         options.learning_rate / options.bias_correction1,
                         1.0f / std::sqrt(options.bias_correction2)});
  }
  for (const AdamState& state : states) state.gradient = {};
}

}  // namespace heed::kernels::gpu
