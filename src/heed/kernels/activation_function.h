#pragma once

namespace heed::kernels {

/// relu(x) = max(0, x). gelu(x) = x Phi(x) with the exact normal distribution function; gelu_tanh
/// is its tanh approximation (Hendrycks and Gimpel 2016). silu(x) = x sigmoid(x), also called
/// swish. tanh is the hyperbolic tangent. clamped_swiglu(x) = g sigmoid(1.702 g) with
/// g = min(x, 7); a gate of it multiplies 1 + u with u within -7 and 7 (gpt-oss, 2025).
enum class Activation { relu, gelu, gelu_tanh, silu, tanh, clamped_swiglu };

inline constexpr float kSwigluAlpha = 1.702f, kSwigluLimit = 7.0f;

}  // namespace heed::kernels
