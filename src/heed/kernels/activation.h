#pragma once

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
std::string_view name_of(Activation f);

/// Both are written.
struct GatedGradients {
  Tensor &d_gate, &d_up;
};

namespace cpu {
void activation_forward(Activation f, const Tensor& x, Tensor& y);
void activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx);
void gated_forward(Activation f, const Tensor& gate, const Tensor& up, Tensor& y);
void gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                    GatedGradients gradients);
}  // namespace cpu

namespace reference {
void activation_forward(Activation f, const Tensor& x, Tensor& y);
void activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx);
void gated_forward(Activation f, const Tensor& gate, const Tensor& up, Tensor& y);
void gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                    GatedGradients gradients);
}  // namespace reference

/// y = f(x), any shape, one dtype.
inline constexpr Kernel<void(Activation f, const Tensor& x, Tensor& y)> activation_forward{
    cpu::activation_forward, reference::activation_forward};
/// dx = dy f'(x); dx may be dy.
inline constexpr Kernel<void(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx)>
    activation_backward{cpu::activation_backward, reference::activation_backward};

/// y = f(gate) * up (Shazeer 2020); clamped_swiglu multiplies 1 + clamp(up, -7, 7).
inline constexpr Kernel<void(Activation f, const Tensor& gate, const Tensor& up, Tensor& y)>
    gated_forward{cpu::gated_forward, reference::gated_forward};
/// d_gate = dy up f'(gate), d_up = dy f(gate); clamped_swiglu: 0 for an `up` beyond its limits.
inline constexpr Kernel<void(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                             GatedGradients gradients)>
    gated_backward{cpu::gated_backward, reference::gated_backward};

}  // namespace heed::kernels
