#include "heed/kernels/activation.h"

#include "heed/kernels/gpu/code/elements/activation.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void activation_forward(Activation f, const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  launch(by_dtype(x.dtype(), "activation_f32", "activation_bf16"),
         shape_of_elements(x.elements(), {x.dtype()}),
         ActivationArguments{memory(x), nullptr, memory(y), x.elements(), f});
}

void gated_forward(Activation f, const Tensor& gate, const Tensor& up, Tensor& y) {
  if (gate.elements() == 0) return;
  launch(by_dtype(gate.dtype(), "gated_f32", "gated_bf16"),
         shape_of_elements(gate.elements(), {gate.dtype()}),
         ActivationArguments{memory(gate), memory(up), memory(y), gate.elements(), f});
}

}  // namespace heed::kernels::gpu
