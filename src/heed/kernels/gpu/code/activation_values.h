#pragma once

#include "heed/gpu/code/operations.h"
#include "heed/kernels/activation_function.h"

// The activation functions of one element.

namespace heed::kernels::gpu {

HEED_DEVICE float sigmoid_of(float x) { return 1.0f / (1.0f + expf(-x)); }

/// What a gate multiplies: `up` itself.
struct PlainFactor {
  static HEED_DEVICE float factor(float up) { return up; }
};

struct Relu : PlainFactor {
  static HEED_DEVICE float value(float x) { return x < 0.0f ? 0.0f : x; }
};
struct Gelu : PlainFactor {
  static HEED_DEVICE float value(float x) { return x * (0.5f * erfcf(x * -0.707106781f)); }
};
/// 0.5 x (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh : PlainFactor {
  static HEED_DEVICE float value(float x) {
    return x * sigmoid_of(1.59576912f * (x + 0.044715f * (x * x * x)));
  }
};
struct Silu : PlainFactor {
  static HEED_DEVICE float value(float x) { return x * sigmoid_of(x); }
};
struct Tanh : PlainFactor {
  static HEED_DEVICE float value(float x) { return tanhf(x); }
};
struct ClampedSwiglu {
  static HEED_DEVICE float value(float x) {
    const float g = x > kSwigluLimit ? kSwigluLimit : x;
    return g * sigmoid_of(kSwigluAlpha * g);
  }
  static HEED_DEVICE float factor(float up) {
    return 1.0f + (up > kSwigluLimit ? kSwigluLimit : up < -kSwigluLimit ? -kSwigluLimit : up);
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
