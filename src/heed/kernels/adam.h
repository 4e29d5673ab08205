#pragma once

#include <span>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

struct AdamOptions {
  float learning_rate = 0.0f;
  float beta1 = 0.9f, beta2 = 0.98f, epsilon = 1e-9f;
  float weight_decay = 0.0f;    // decoupled: value -= learning_rate * weight_decay * value
  float gradient_scale = 1.0f;  // multiplies the gradient first (clipping)
  /// 1 - beta1^t and 1 - beta2^t at step t = 1, 2, ...
  float bias_correction1 = 1.0f, bias_correction2 = 1.0f;
};

/// One parameter and its moments: f32, one shape. An undefined gradient counts as zero. A step
/// consumes the gradient: it is undefined afterwards.
struct AdamState {
  Tensor &value, &gradient, &moment1, &moment2;
  bool decays = true;
};

/// One step of Adam for all parameters in one pass (Kingma and Ba 2015, algorithm 1; decay as in
/// Loshchilov and Hutter 2019).
HEED_KERNEL(adam_steps, void(std::span<const AdamState> states, const AdamOptions& options));

/// The same for one parameter.
inline void adam_step(const AdamState& state, const AdamOptions& options) {
  adam_steps({&state, 1}, options);
}

}  // namespace heed::kernels
