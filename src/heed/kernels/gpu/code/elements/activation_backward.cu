#include "heed/kernels/gpu/code/elements/activation_backward.h"

#include "heed/kernels/gpu/code/elements/activation_values.h"
#include "heed/kernels/gpu/code/elements/elements.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename T>
HEED_DEVICE void differentiate_activation(const ActivationBackwardArguments& in) {
  with_activation(in.f, [&](auto f) {
    map_elements(in.count, static_cast<T*>(in.dx), static_cast<const T*>(in.x),
                 static_cast<const T*>(in.dy),
                 [f](float x, float dy, int64_t) { return dy * f.derivative(x); });
  });
}

/// The gradients of some neighbours, in place of the gate and the factor.
template <typename F, int n>
HEED_DEVICE void differentiate_gates(const float (&dy)[n], float (&gate)[n], float (&up)[n]) {
  HEED_UNROLL
  for (int i = 0; i < n; ++i) {
    const float g = gate[i], u = up[i];
    gate[i] = dy[i] * F::factor(u) * F::derivative(g);
    up[i] = dy[i] * F::value(g) * F::factor_derivative(u);
  }
}

template <typename T>
HEED_DEVICE void differentiate_gated(const GatedBackwardArguments& in) {
  constexpr int n = kVector<T>;
  const int64_t first = (int64_t{block_x()} * block_threads() + thread_index()) * n;
  if (first >= in.count) return;
  const int64_t exist = in.count - first;
  float gate[n], up[n], dy[n];
  load_vector(static_cast<const T*>(in.gate) + first, exist, 0.0f, gate);
  load_vector(static_cast<const T*>(in.up) + first, exist, 0.0f, up);
  load_vector(static_cast<const T*>(in.dy) + first, exist, 0.0f, dy);
  with_activation(in.f, [&](auto f) { differentiate_gates<decltype(f)>(dy, gate, up); });
  store_vector(gate, exist, static_cast<T*>(in.d_gate) + first);
  store_vector(up, exist, static_cast<T*>(in.d_up) + first);
}

}  // namespace

HEED_GPU_KERNEL(activation_backward_f32, ActivationBackwardArguments, in) {
  differentiate_activation<float>(in);
}
HEED_GPU_KERNEL(activation_backward_bf16, ActivationBackwardArguments, in) {
  differentiate_activation<Bf16>(in);
}
HEED_GPU_KERNEL(gated_backward_f32, GatedBackwardArguments, in) { differentiate_gated<float>(in); }
HEED_GPU_KERNEL(gated_backward_bf16, GatedBackwardArguments, in) { differentiate_gated<Bf16>(in); }

}  // namespace heed::kernels::gpu
