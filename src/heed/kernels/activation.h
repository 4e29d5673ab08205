#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "heed/kernels/kernel.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// relu(x) = max(0, x). gelu(x) = x Phi(x) with the exact normal distribution function; gelu_tanh
/// is its tanh approximation (Hendrycks and Gimpel 2016). silu(x) = x sigmoid(x), also called
/// swish. tanh is the hyperbolic tangent. clamped_swiglu(x) = g sigmoid(1.702 g) with
/// g = min(x, 7); a gate of it multiplies 1 + u with u within -7 and 7 (gpt-oss, 2025).
enum class Activation { relu, gelu, gelu_tanh, silu, tanh, clamped_swiglu };

inline constexpr float kSwigluAlpha = 1.702f, kSwigluLimit = 7.0f;

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

/// y = f(x), any shape, one dtype.
HEED_HOST_KERNEL(activation_forward, void(Activation f, const Tensor& x, Tensor& y));
/// dx = dy f'(x); dx may be dy.
HEED_HOST_KERNEL(activation_backward,
                 void(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx));

/// y = f(gate) * up (Shazeer 2020); clamped_swiglu multiplies 1 + clamp(up, -7, 7).
HEED_HOST_KERNEL(gated_forward,
                 void(Activation f, const Tensor& gate, const Tensor& up, Tensor& y));
/// d_gate = dy up f'(gate), d_up = dy f(gate); clamped_swiglu: 0 for an `up` beyond its limits.
HEED_HOST_KERNEL(gated_backward, void(Activation f, const Tensor& gate, const Tensor& up,
                                      const Tensor& dy, GatedGradients gradients));

}  // namespace heed::kernels
