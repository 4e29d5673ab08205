#include "heed/kernels/gpu/code/activation_backward.h"

#include <array>

#include "heed/kernels/activation.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kActivationBackwardThreads = 256;

/// Of f32 and bf16.
using KernelNames = std::array<const char*, 2>;

// In the order of Activation.
constexpr std::array<KernelNames, 6> kActivationBackwardKernels{{
    {"relu_backward_f32", "relu_backward_bf16"},
    {"gelu_backward_f32", "gelu_backward_bf16"},
    {"gelu_tanh_backward_f32", "gelu_tanh_backward_bf16"},
    {"silu_backward_f32", "silu_backward_bf16"},
    {"tanh_backward_f32", "tanh_backward_bf16"},
    {"clamped_swiglu_backward_f32", "clamped_swiglu_backward_bf16"},
}};
constexpr std::array<KernelNames, 6> kGatedBackwardKernels{{
    {"gated_relu_backward_f32", "gated_relu_backward_bf16"},
    {"gated_gelu_backward_f32", "gated_gelu_backward_bf16"},
    {"gated_gelu_tanh_backward_f32", "gated_gelu_tanh_backward_bf16"},
    {"gated_silu_backward_f32", "gated_silu_backward_bf16"},
    {"gated_tanh_backward_f32", "gated_tanh_backward_bf16"},
    {"gated_clamped_swiglu_backward_f32", "gated_clamped_swiglu_backward_bf16"},
}};

const char* kernel_of(const std::array<KernelNames, 6>& kernels, Activation f, DType dtype) {
  return kernels[static_cast<size_t>(f)][dtype == DType::f32 ? 0 : 1];
}

/// A thread computes 16 bytes.
LaunchShape shape_for_bytes_of(const Tensor& x) {
  return {.x = blocks_for(x.bytes(), int64_t{kActivationBackwardThreads} * 16),
          .threads = kActivationBackwardThreads};
}

}  // namespace

void activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx) {
  if (x.elements() == 0) return;
  launch(kernel_of(kActivationBackwardKernels, f, x.dtype()), shape_for_bytes_of(x),
         ActivationBackwardArguments{memory(x), memory(dy), memory(dx), x.elements()});
}

void gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                    GatedGradients gradients) {
  if (gate.elements() == 0) return;
  launch(kernel_of(kGatedBackwardKernels, f, gate.dtype()), shape_for_bytes_of(gate),
         GatedBackwardArguments{memory(gate), memory(up), memory(dy), memory(gradients.d_gate),
                                memory(gradients.d_up), gate.elements()});
}

}  // namespace heed::kernels::gpu
