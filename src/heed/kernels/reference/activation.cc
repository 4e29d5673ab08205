#include "heed/kernels/activation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heed::kernels::reference {
namespace {

struct ValueAndDerivative {
  double value, derivative;
};

ValueAndDerivative relu(double x) {
  if (std::isnan(x)) return {x, x};
  return {x > 0 ? x : 0.0, x > 0 ? 1.0 : 0.0};
}

ValueAndDerivative gelu(double x) {
  const double cumulative = 0.5 * std::erfc(-x / std::numbers::sqrt2);
  const double density = std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return {x * cumulative, cumulative + x * density};
}

ValueAndDerivative gelu_tanh(double x) {
  const double root = std::sqrt(2.0 / std::numbers::pi);
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  const double inner = root * (1.0 + 3.0 * 0.044715 * x * x);
  return {0.5 * x * (1.0 + t), 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner};
}

ValueAndDerivative silu(double x) {
  const double s = 1.0 / (1.0 + std::exp(-x));
  return {x * s, s * (1.0 + x * (1.0 - s))};
}

ValueAndDerivative hyperbolic_tangent(double x) {
  const double t = std::tanh(x);
  return {t, 1.0 - t * t};
}

ValueAndDerivative clamped_swiglu(double x) {
  const double limit = kSwigluLimit, alpha = kSwigluAlpha, g = std::min(x, limit);
  const double s = 1.0 / (1.0 + std::exp(-alpha * g));
  return {g * s, x <= limit ? s * (1.0 + alpha * g * (1.0 - s)) : 0.0};
}

/// The factor of a gate, and its derivative.
ValueAndDerivative gated_factor(Activation f, double up) {
  if (f != Activation::clamped_swiglu) return {up, 1.0};
  const double limit = kSwigluLimit;
  return {1.0 + std::clamp(up, -limit, limit), std::abs(up) <= limit ? 1.0 : 0.0};
}

ValueAndDerivative evaluate(Activation f, double x) {
  switch (f) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::silu:
      return silu(x);
    case Activation::tanh:
      return hyperbolic_tangent(x);
    case Activation::clamped_swiglu:
      return clamped_swiglu(x);
  }
  fail("activation {} is unknown", static_cast<int>(f));
}

template <typename T>
double at(const Tensor& tensor, int64_t i) {
  return static_cast<float>(tensor.data<T>()[i]);
}

template <typename T>
void put(Tensor& tensor, int64_t i, double value) {
  tensor.data<T>()[i] = T(static_cast<float>(value));
}

}  // namespace

void activation_forward(Activation f, const Tensor& x, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.elements(); ++i) put<T>(y, i, evaluate(f, at<T>(x, i)).value);
  });
}

void activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.elements(); ++i)
      put<T>(dx, i, at<T>(dy, i) * evaluate(f, at<T>(x, i)).derivative);
  });
}

void gated_forward(Activation f, const Tensor& gate, const Tensor& up, Tensor& y) {
  visit_floating(gate.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < gate.elements(); ++i)
      put<T>(y, i, evaluate(f, at<T>(gate, i)).value * gated_factor(f, at<T>(up, i)).value);
  });
}

void gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                    GatedGradients gradients) {
  visit_floating(gate.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < gate.elements(); ++i) {
      const ValueAndDerivative g = evaluate(f, at<T>(gate, i));
      const ValueAndDerivative u = gated_factor(f, at<T>(up, i));
      const double d = at<T>(dy, i);
      put<T>(gradients.d_gate, i, d * u.value * g.derivative);
      put<T>(gradients.d_up, i, d * g.value * u.derivative);
    }
  });
}

}  // namespace heed::kernels::reference
