#pragma once

#include <string_view>

#include "heed/kernels/backend.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {

/// relu(x) = max(0, x); gelu(x) = x Phi(x) with the exact normal distribution function; gelu_tanh
/// its tanh approximation (Hendrycks and Gimpel 2016); silu(x) = x sigmoid(x), also called swish;
/// tanh is the hyperbolic tangent.
enum class Activation { relu, gelu, gelu_tanh, silu, tanh };

/// "relu", "gelu", "gelu_new", "silu" or "tanh", as checkpoints call them.
std::string_view name_of(Activation f);

/// y = f(x), any shape, one dtype.
HEED_KERNEL(void, activation_forward, (Activation f, const Tensor& x, Tensor& y), (f, x, y))
/// dx = dy f'(x); dx may be dy.
HEED_KERNEL(void, activation_backward,
            (Activation f, const Tensor& x, const Tensor& dy, Tensor& dx), (f, x, dy, dx))

/// y = f(gate) * up (Shazeer 2020).
HEED_KERNEL(void, gated_forward, (Activation f, const Tensor& gate, const Tensor& up, Tensor& y),
            (f, gate, up, y))
struct GatedGradients {
  Tensor &d_gate, &d_up;
};
/// d_gate = dy up f'(gate), d_up = dy f(gate).
HEED_KERNEL(void, gated_backward,
            (Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
             GatedGradients gradients),
            (f, gate, up, dy, gradients))

}  // namespace heed::kernels
