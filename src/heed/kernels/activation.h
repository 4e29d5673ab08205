#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "heed/kernels/activation_function.h"
#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// "relu", "gelu", "gelu_new", "silu", "tanh" or "clamped_swiglu"; but for the last, the names that
/// checkpoints use.
constexpr std::string_view name_of(Activation f) {
  constexpr std::array<std::string_view, 6> kNames{"relu", "gelu", "gelu_new",
                                                   "silu", "tanh", "clamped_swiglu"};
  return kNames[static_cast<size_t>(f)];
}

/// Both are written.
struct GatedGradients {
  Tensor &d_gate, &d_up;
};

/// y = f(x), any shape, one dtype; y may be x.
HEED_KERNEL(activation_forward, void(Activation f, const Tensor& x, Tensor& y));
/// dx = dy f'(x); dx may be dy.
HEED_KERNEL(activation_backward, void(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx));

/// y = f(gate) * up (Shazeer 2020); clamped_swiglu multiplies 1 + clamp(up, -7, 7). y may be gate.
HEED_KERNEL(gated_forward, void(Activation f, const Tensor& gate, const Tensor& up, Tensor& y));
/// d_gate = dy up f'(gate), d_up = dy f(gate); clamped_swiglu: 0 for an `up` beyond its limits.
HEED_KERNEL(gated_backward, void(Activation f, const Tensor& gate, const Tensor& up,
                                 const Tensor& dy, GatedGradients gradients));

}  // namespace heed::kernels
