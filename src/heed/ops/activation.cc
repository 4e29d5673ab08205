#include "heed/ops/activation.h"

#include "heed/ops/check.h"

namespace heed::ops {

Tensor activation(Context& context, Activation f, Tensor x) {
  Tensor y = result_for(context, x);
  kernels::activation_forward(f, x, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  // ReLU's derivative follows from its value, which the next op saves anyway.
  const Tensor& saved = f == Activation::relu ? y : x;
  tape.record(y, [&tape, f, saved, input = TensorKey(x)](Tensor dy) {
    kernels::activation_backward(f, saved, dy, dy);
    tape.add(input, dy);
  });
  return y;
}

Tensor gated(Context& context, Activation f, Tensor gate, const Tensor& up) {
  check_shape("gated", "up", up, gate.shape());
  const auto multiply = [f, up](const Tensor& by, Tensor y) {
    kernels::gated_forward(f, by, up, y);
    return y;
  };
  const Tensor y = multiply(gate, result_for(context, gate));
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  const auto recompute = [multiply, gate] {
    return multiply(gate, Tensor::empty(gate.shape(), gate.dtype()));
  };
  tape.record(y, [&tape, f, gate, up, again = tape.recompute(y, recompute)](const Tensor& dy) {
    Tensor d_gate = Tensor::empty(gate.shape(), gate.dtype());
    Tensor d_up = Tensor::empty(up.shape(), up.dtype());
    kernels::gated_backward(f, gate, up, dy, {d_gate, d_up});
    tape.add(gate, d_gate);
    tape.add(up, d_up);
  });
  return y;
}

}  // namespace heed::ops
