#include "heed/kernels/gpu/code/elements/activation_backward.h"

#include "heed/kernels/activation.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void activation_backward(Activation f, const Tensor& x, const Tensor& dy, Tensor& dx) {
  if (x.elements() == 0) return;
  launch(by_dtype(x.dtype(), "activation_backward_f32", "activation_backward_bf16"),
         shape_of_elements(x.elements(), {x.dtype()}),
         ActivationBackwardArguments{memory(x), memory(dy), memory(dx), x.elements(), f});
}

void gated_backward(Activation f, const Tensor& gate, const Tensor& up, const Tensor& dy,
                    GatedGradients gradients) {
  if (gate.elements() == 0) return;
  launch(by_dtype(gate.dtype(), "gated_backward_f32", "gated_backward_bf16"),
         shape_of_elements(gate.elements(), {gate.dtype()}),
         GatedBackwardArguments{memory(gate), memory(up), memory(dy), memory(gradients.d_gate),
                                memory(gradients.d_up), gate.elements(), f});
}

}  // namespace heed::kernels::gpu
