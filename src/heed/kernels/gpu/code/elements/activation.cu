#include "heed/kernels/gpu/code/elements/activation.h"

#include "heed/kernels/gpu/code/elements/activation_values.h"
#include "heed/kernels/gpu/code/elements/elements.h"

namespace heed::kernels::gpu {
namespace {

template <typename T>
HEED_DEVICE void activate(const ActivationArguments& in) {
  with_activation(in.f, [&](auto f) {
    map_elements(in.count, static_cast<T*>(in.y), static_cast<const T*>(in.x),
                 [f](float x, int64_t) { return f.value(x); });
  });
}

template <typename T>
HEED_DEVICE void gate(const ActivationArguments& in) {
  with_activation(in.f, [&](auto f) {
    map_elements(in.count, static_cast<T*>(in.y), static_cast<const T*>(in.x),
                 static_cast<const T*>(in.up),
                 [f](float x, float up, int64_t) { return f.value(x) * f.factor(up); });
  });
}

}  // namespace

HEED_GPU_KERNEL(activation_f32, ActivationArguments, in) { activate<float>(in); }
HEED_GPU_KERNEL(activation_bf16, ActivationArguments, in) { activate<Bf16>(in); }
HEED_GPU_KERNEL(gated_f32, ActivationArguments, in) { gate<float>(in); }
HEED_GPU_KERNEL(gated_bf16, ActivationArguments, in) { gate<Bf16>(in); }

}  // namespace heed::kernels::gpu
