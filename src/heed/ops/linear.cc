#include "heed/ops/linear.h"

#include "heed/kernels/column_sums.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/multiply.h"

namespace heed::ops {

Tensor linear(Context& context, const Tensor& x, Parameter& weight, Parameter& bias) {
  Tensor y = Tensor::empty({x.rows(), weight.value.rows()}, x.dtype());
  if (context.tape) weight.require_trainable();
  if (context.observe_product) context.observe_product(weight, x);
  multiply(x, weight, bias, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(
      [&tape, &weight, &bias, kept = tape.keep(x), input = TensorKey(x), key = TensorKey(y)] {
        const Tensor dy = tape.take(key);
        if (!dy.defined()) return;
        auto [dx, accumulate] = tape.slot(input);
        kernels::matmul({dy}, {weight.read(input.dtype)}, {.accumulate = accumulate}, dx);
        auto [d_weight, add] = weight.gradient.slot();
        kernels::matmul({dy, true}, {kept.tensor()}, {.accumulate = add}, d_weight);
        if (bias.present()) kernels::column_sums(dy, bias.gradient);
      });
  return y;
}

}  // namespace heed::ops
