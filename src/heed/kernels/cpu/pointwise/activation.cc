#include "heed/kernels/activation.h"

#include "heed/base/parallel.h"
#include "heed/kernels/cpu/simd/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/pointwise/activation.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/simd/lanes-inl.h"
#include "heed/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {
namespace {

/// f(x) and f'(x), which share most of their work; the compiler removes what is not used.
struct ValueAndDerivative {
  V32 value, derivative;
};

/// What a gate multiplies: `up` itself.
struct PlainFactor {
  static HWY_INLINE ValueAndDerivative factor(V32 up) { return {up, set(1.0f)}; }
};

struct Relu : PlainFactor {
  static HWY_INLINE ValueAndDerivative at(V32 x) {
    const auto zero = hn::Zero(F32());
    return {hn::IfThenZeroElse(hn::Lt(x, zero), x), hn::IfThenZeroElse(hn::Le(x, zero), set(1.0f))};
  }
};

struct Gelu : PlainFactor {
  static HWY_INLINE ValueAndDerivative at(V32 x) {
    const auto cumulative = normal_cumulative(x);
    return {hn::Mul(x, cumulative), hn::MulAdd(x, normal_density(x), cumulative)};
  }
};

/// 0.5 x (1 + tanh(u)) = x sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh : PlainFactor {
  static HWY_INLINE ValueAndDerivative at(V32 x) {
    const auto one = set(1.0f);
    // Beyond 12 the sigmoid is 0 or 1 in f32; the cube of a large x must not overflow.
    const auto limit = set(12.0f);
    const auto near = hn::IfThenElse(hn::Gt(hn::Abs(x), limit), hn::CopySign(limit, x), x);
    const auto cubic = hn::Mul(hn::Mul(near, near), set(0.044715f));
    const auto twice_root = set(1.59576912f);  // 2 sqrt(2 / pi)
    const auto s = sigmoid(hn::Mul(hn::Mul(twice_root, near), hn::Add(one, cubic)));
    const auto inner = hn::Mul(twice_root, hn::MulAdd(cubic, set(3.0f), one));
    const auto derivative = hn::MulAdd(hn::Mul(near, hn::Mul(s, hn::Sub(one, s))), inner, s);
    return {hn::Mul(x, s), derivative};
  }
};

struct Silu : PlainFactor {
  static HWY_INLINE ValueAndDerivative at(V32 x) {
    const auto one = set(1.0f);
    const auto s = sigmoid(x);
    return {hn::Mul(x, s), hn::Mul(s, hn::MulAdd(x, hn::Sub(one, s), one))};
  }
};

struct Tanh : PlainFactor {
  static HWY_INLINE ValueAndDerivative at(V32 x) {
    const auto t = tanh(x);
    return {t, hn::NegMulAdd(t, t, set(1.0f))};
  }
};

struct ClampedSwiglu {
  static HWY_INLINE ValueAndDerivative at(V32 x) {
    const auto one = set(1.0f), limit = set(kSwigluLimit), alpha = set(kSwigluAlpha);
    const auto over = hn::Gt(x, limit);
    const auto g = hn::IfThenElse(over, limit, x);
    // Far below 0 the derivative is 0; alpha times the least x must not overflow.
    const auto u = hn::Mul(alpha, hn::Max(g, set(-100.0f)));
    const auto s = sigmoid(u);
    const auto derivative = hn::Mul(s, hn::MulAdd(u, hn::Sub(one, s), one));
    return {hn::Mul(g, s), hn::IfThenZeroElse(over, derivative)};
  }

  static HWY_INLINE ValueAndDerivative factor(V32 up) {
    const auto one = set(1.0f), limit = set(kSwigluLimit);
    const auto over = hn::Gt(hn::Abs(up), limit);
    const auto clamped = hn::IfThenElse(over, hn::CopySign(limit, up), up);
    return {hn::Add(clamped, one), hn::IfThenZeroElse(over, one)};
  }
};

template <typename Visitor>
void visit_activation(Activation f, const Visitor& visitor) {
  switch (f) {
    case Activation::relu:
      return visitor(Relu{});
    case Activation::gelu:
      return visitor(Gelu{});
    case Activation::gelu_tanh:
      return visitor(GeluTanh{});
    case Activation::silu:
      return visitor(Silu{});
    case Activation::tanh:
      return visitor(Tanh{});
    case Activation::clamped_swiglu:
      return visitor(ClampedSwiglu{});
  }
}

/// Calls run(f, zero, begin, end) for chunks of all elements; f is one of the structs above, zero
/// is of the element type.
template <typename Run>
void over_chunks(Activation f, const Tensor& x, const Run& run) {
  const int64_t chunk = f == Activation::relu ? kLightGrain : kHeavyGrain;
  visit_activation(f, [&](auto function) {
    visit_floating(x.dtype(), [&](auto zero) {
      parallel_for(x.elements(), chunk,
                   [&](int64_t begin, int64_t end) { run(function, zero, begin, end); });
    });
  });
}

}  // namespace

void activation_forward(Activation f, const Tensor& x, Tensor& y) {
  over_chunks(f, x, [&](auto function, auto zero, int64_t begin, int64_t end) {
    using F = decltype(function);
    using T = decltype(zero);
    const T* from = x.data<T>();
    T* to = y.data<T>();
    for_lanes(begin, end, [&](auto at) HEED_LANES { store(F::at(load(from, at)).value, to, at); });
  });
}

void activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx) {
  over_chunks(f, x, [&](auto function, auto zero, int64_t begin, int64_t end) {
    using F = decltype(function);
    using T = decltype(zero);
    const T *from = x.data<T>(), *gradient = dy.data<T>();
    T* to = dx.data<T>();
    for_lanes(begin, end, [&](auto at) HEED_LANES {
      store(hn::Mul(load(gradient, at), F::at(load(from, at)).derivative), to, at);
    });
  });
}

void gated_forward(Activation f, const Tensor& gate, const Tensor& up, Tensor& y) {
  over_chunks(f, gate, [&](auto function, auto zero, int64_t begin, int64_t end) {
    using F = decltype(function);
    using T = decltype(zero);
    const T *gates = gate.data<T>(), *ups = up.data<T>();
    T* to = y.data<T>();
    for_lanes(begin, end, [&](auto at) HEED_LANES {
      store(hn::Mul(F::at(load(gates, at)).value, F::factor(load(ups, at)).value), to, at);
    });
  });
}

void gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                    GatedGradients gradients) {
  over_chunks(f, gate, [&](auto function, auto zero, int64_t begin, int64_t end) {
    using F = decltype(function);
    using T = decltype(zero);
    const T *gates = gate.data<T>(), *ups = up.data<T>(), *gradient = dy.data<T>();
    T *d_gate = gradients.d_gate.data<T>(), *d_up = gradients.d_up.data<T>();
    for_lanes(begin, end, [&](auto at) HEED_LANES {
      const ValueAndDerivative g = F::at(load(gates, at));
      const auto d = load(gradient, at);
      const ValueAndDerivative u = F::factor(load(ups, at));
      store(hn::Mul(hn::Mul(d, u.value), g.derivative), d_gate, at);
      store(hn::Mul(hn::Mul(d, g.value), u.derivative), d_up, at);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(activation_forward);
void cpu::activation_forward(Activation f, const Tensor& x, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(activation_forward)(f, x, y);
}
HWY_EXPORT(activation_backward);
void cpu::activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx) {
  HWY_DYNAMIC_DISPATCH(activation_backward)(f, x, dy, dx);
}
HWY_EXPORT(gated_forward);
void cpu::gated_forward(Activation f, const Tensor& gate, const Tensor& up, Tensor& y) {
  HWY_DYNAMIC_DISPATCH(gated_forward)(f, gate, up, y);
}
HWY_EXPORT(gated_backward);
void cpu::gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                         GatedGradients gradients) {
  HWY_DYNAMIC_DISPATCH(gated_backward)(f, gate, up, dy, gradients);
}

}  // namespace heed::kernels
#endif  // HWY_ONCE
