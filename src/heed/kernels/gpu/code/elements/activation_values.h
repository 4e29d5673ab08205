#pragma once

#include "heed/gpu/code/operations.h"
#include "heed/kernels/activation_function.h"

// The activation functions of one element, and their derivatives.

namespace heed::kernels::gpu {

HEED_DEVICE float sigmoid_of(float x) { return 1.0f / (1.0f + expf(-x)); }

/// What a gate multiplies: `up` itself.
struct PlainFactor {
  static HEED_DEVICE float factor(float up) { return up; }
  static HEED_DEVICE float factor_derivative(float) { return 1.0f; }
};

struct Relu : PlainFactor {
  static HEED_DEVICE float value(float x) { return x < 0.0f ? 0.0f : x; }
  static HEED_DEVICE float derivative(float x) { return x > 0.0f ? 1.0f : x <= 0.0f ? 0.0f : x; }
};
struct Gelu : PlainFactor {
  static HEED_DEVICE float cumulative(float x) { return 0.5f * erfcf(x * -0.707106781f); }
  static HEED_DEVICE float value(float x) { return x * cumulative(x); }
  static HEED_DEVICE float derivative(float x) {
    return fmaf(x, 0.398942280f * expf(-0.5f * x * x), cumulative(x));
  }
};
/// 0.5 x (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh : PlainFactor {
  static constexpr float kTwiceRoot = 1.59576912f;  // 2 sqrt(2 / pi)
  static HEED_DEVICE float value(float x) {
    return x * sigmoid_of(kTwiceRoot * (x + 0.044715f * (x * x * x)));
  }
  static HEED_DEVICE float derivative(float x) {
    // Beyond 12 the sigmoid is 0 or 1 in f32; the derivative of the cube must not overflow.
    const float near = fabsf(x) > 12.0f ? copysignf(12.0f, x) : x;
    const float cubic = 0.044715f * near * near, s = sigmoid_of(kTwiceRoot * near * (1.0f + cubic));
    return fmaf(near * (s * (1.0f - s)), kTwiceRoot * fmaf(cubic, 3.0f, 1.0f), s);
  }
};
struct Silu : PlainFactor {
  static HEED_DEVICE float value(float x) { return x * sigmoid_of(x); }
  static HEED_DEVICE float derivative(float x) {
    const float s = sigmoid_of(x);
    return s * fmaf(x, 1.0f - s, 1.0f);
  }
};
struct Tanh : PlainFactor {
  static HEED_DEVICE float value(float x) { return tanhf(x); }
  static HEED_DEVICE float derivative(float x) {
    const float t = tanhf(x);
    return fmaf(-t, t, 1.0f);
  }
};
struct ClampedSwiglu {
  static HEED_DEVICE float value(float x) {
    const float g = x > kSwigluLimit ? kSwigluLimit : x;
    return g * sigmoid_of(kSwigluAlpha * g);
  }
  static HEED_DEVICE float derivative(float x) {
    if (x > kSwigluLimit) return 0.0f;
    // Far below 0 the derivative is 0; alpha times the least x must not overflow.
    const float u = kSwigluAlpha * (x < -100.0f ? -100.0f : x), s = sigmoid_of(u);
    return s * fmaf(u, 1.0f - s, 1.0f);
  }
  static HEED_DEVICE float factor(float up) {
    return 1.0f + (up > kSwigluLimit ? kSwigluLimit : up < -kSwigluLimit ? -kSwigluLimit : up);
  }
  static HEED_DEVICE float factor_derivative(float up) {
    return fabsf(up) > kSwigluLimit ? 0.0f : 1.0f;
  }
};

/// run(a struct of the above).
template <typename Run>
HEED_DEVICE void with_activation(Activation f, const Run& run) {
  switch (f) {
    case Activation::relu:
      return run(Relu());
    case Activation::gelu:
      return run(Gelu());
    case Activation::gelu_tanh:
      return run(GeluTanh());
    case Activation::silu:
      return run(Silu());
    case Activation::tanh:
      return run(Tanh());
    case Activation::clamped_swiglu:
      return run(ClampedSwiglu());
  }
}

}  // namespace heed::kernels::gpu
