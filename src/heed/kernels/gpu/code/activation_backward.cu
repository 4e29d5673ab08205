#include "heed/kernels/gpu/code/activation_backward.h"

#include "heed/kernels/gpu/code/numbers.h"
#include "heed/kernels/gpu/code/packs.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

struct ValueAndDerivative {
  float value, derivative;
};

HEED_DEVICE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/// What a gate multiplies: `up` itself.
struct PlainFactor {
  static HEED_DEVICE ValueAndDerivative factor(float up) { return {up, 1.0f}; }
};

struct Relu : PlainFactor {
  static HEED_DEVICE ValueAndDerivative at(float x) {
    if (x != x) return {x, x};
    return {x > 0.0f ? x : 0.0f, x > 0.0f ? 1.0f : 0.0f};
  }
};

struct Gelu : PlainFactor {
  static HEED_DEVICE ValueAndDerivative at(float x) {
    const float cumulative = 0.5f * erfcf(x * -0.70710678f);
    const float density = 0.39894228f * expf(-0.5f * x * x);
    return {x * cumulative, fmaf(x, density, cumulative)};
  }
};

/// 0.5 x (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh : PlainFactor {
  static HEED_DEVICE ValueAndDerivative at(float x) {
    // Beyond 12 the sigmoid is 0 or 1 in f32; the cube of a large x must not overflow.
    const float near = fabsf(x) > 12.0f ? copysignf(12.0f, x) : x;
    const float cubic = near * near * 0.044715f, twice_root = 1.59576912f;  // 2 sqrt(2 / pi)
    const float s = sigmoid(twice_root * near * (1.0f + cubic));
    const float inner = twice_root * fmaf(cubic, 3.0f, 1.0f);
    return {x * s, fmaf(near * (s * (1.0f - s)), inner, s)};
  }
};

struct Silu : PlainFactor {
  static HEED_DEVICE ValueAndDerivative at(float x) {
    const float s = sigmoid(x);
    return {x * s, s * fmaf(x, 1.0f - s, 1.0f)};
  }
};

struct Tanh : PlainFactor {
  static HEED_DEVICE ValueAndDerivative at(float x) {
    const float t = tanhf(x);
    return {t, fmaf(-t, t, 1.0f)};
  }
};

struct ClampedSwiglu {
  static constexpr float kAlpha = 1.702f, kLimit = 7.0f;

  static HEED_DEVICE ValueAndDerivative at(float x) {
    const float g = x > kLimit ? kLimit : x;
    // Far below 0 the derivative is 0; alpha times the least x must not overflow.
    const float u = kAlpha * (g < -100.0f ? -100.0f : g), s = sigmoid(u);
    return {g * s, x > kLimit ? 0.0f : s * fmaf(u, 1.0f - s, 1.0f)};
  }

  static HEED_DEVICE ValueAndDerivative factor(float up) {
    const bool over = fabsf(up) > kLimit;
    return {1.0f + (over ? copysignf(kLimit, up) : up), over ? 0.0f : 1.0f};
  }
};

template <typename F, typename T>
HEED_DEVICE T differentiated(T x, T dy) {
  return narrow<T>(wide(dy) * F::at(wide(x)).derivative);
}

template <typename F, typename T>
HEED_DEVICE void differentiate_activation(const ActivationBackwardArguments& in) {
  using Elements = Pack<T>;
  const BlockElements block = elements_of_block<Elements>(in.count);
  const T* const x = static_cast<const T*>(in.x) + block.begin;
  const T* const dy = static_cast<const T*>(in.dy) + block.begin;
  T* const dx = static_cast<T*>(in.dx) + block.begin;
  const int thread = static_cast<int>(thread_index()), threads = static_cast<int>(block_threads());
  if (block.count == threads * Elements::kCount && is_aligned<Elements>(x) &&
      is_aligned<Elements>(dy) && is_aligned<Elements>(dx)) {
    const Elements xs = reinterpret_cast<const Elements*>(x)[thread];
    Elements ds = reinterpret_cast<const Elements*>(dy)[thread];
    for (int i = 0; i < Elements::kCount; ++i) ds.at[i] = differentiated<F>(xs.at[i], ds.at[i]);
    reinterpret_cast<Elements*>(dx)[thread] = ds;
    return;
  }
  for (int i = thread; i < block.count; i += threads) dx[i] = differentiated<F>(x[i], dy[i]);
}

/// Writes the gradients of a gate and its factor over them.
template <typename F, typename T>
HEED_DEVICE void differentiate_gate(T dy, T& gate, T& up) {
  const ValueAndDerivative g = F::at(wide(gate)), u = F::factor(wide(up));
  gate = narrow<T>(wide(dy) * u.value * g.derivative);
  up = narrow<T>(wide(dy) * g.value * u.derivative);
}

template <typename F, typename T>
HEED_DEVICE void differentiate_gates(const GatedBackwardArguments& in) {
  using Elements = Pack<T>;
  const BlockElements block = elements_of_block<Elements>(in.count);
  const T* const gate = static_cast<const T*>(in.gate) + block.begin;
  const T* const up = static_cast<const T*>(in.up) + block.begin;
  const T* const dy = static_cast<const T*>(in.dy) + block.begin;
  T* const d_gate = static_cast<T*>(in.d_gate) + block.begin;
  T* const d_up = static_cast<T*>(in.d_up) + block.begin;
  const int thread = static_cast<int>(thread_index()), threads = static_cast<int>(block_threads());
  if (block.count == threads * Elements::kCount && is_aligned<Elements>(gate) &&
      is_aligned<Elements>(up) && is_aligned<Elements>(dy) && is_aligned<Elements>(d_gate) &&
      is_aligned<Elements>(d_up)) {
    Elements gates = reinterpret_cast<const Elements*>(gate)[thread];
    Elements ups = reinterpret_cast<const Elements*>(up)[thread];
    const Elements ds = reinterpret_cast<const Elements*>(dy)[thread];
    for (int i = 0; i < Elements::kCount; ++i)
      differentiate_gate<F>(ds.at[i], gates.at[i], ups.at[i]);
    reinterpret_cast<Elements*>(d_gate)[thread] = gates;
    reinterpret_cast<Elements*>(d_up)[thread] = ups;
    return;
  }
  for (int i = thread; i < block.count; i += threads) {
    T g = gate[i], u = up[i];
    differentiate_gate<F>(dy[i], g, u);
    d_gate[i] = g;
    d_up[i] = u;
  }
}

}  // namespace

#define HEED_ACTIVATION_BACKWARD(name, F)                                              \
  HEED_GPU_KERNEL(name##_backward_f32, ActivationBackwardArguments, in) {              \
    differentiate_activation<F, float>(in);                                            \
  }                                                                                    \
  HEED_GPU_KERNEL(name##_backward_bf16, ActivationBackwardArguments, in) {             \
    differentiate_activation<F, Bf16>(in);                                             \
  }                                                                                    \
  HEED_GPU_KERNEL(gated_##name##_backward_f32, GatedBackwardArguments, in) {           \
    differentiate_gates<F, float>(in);                                                 \
  }                                                                                    \
  HEED_GPU_KERNEL(gated_##name##_backward_bf16, GatedBackwardArguments, in) {          \
    differentiate_gates<F, Bf16>(in);                                                  \
  }

HEED_ACTIVATION_BACKWARD(relu, Relu)
HEED_ACTIVATION_BACKWARD(gelu, Gelu)
HEED_ACTIVATION_BACKWARD(gelu_tanh, GeluTanh)
HEED_ACTIVATION_BACKWARD(silu, Silu)
HEED_ACTIVATION_BACKWARD(tanh, Tanh)
HEED_ACTIVATION_BACKWARD(clamped_swiglu, ClampedSwiglu)

}  // namespace heed::kernels::gpu
