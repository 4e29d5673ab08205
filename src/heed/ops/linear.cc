#include "heed/ops/linear.h"

#include "heed/kernels/column_sums.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/check.h"

namespace heed::ops {

Tensor linear(Context& context, const Tensor& x, Parameter& weight, Parameter& bias) {
  check_width(weight.name, "the input", x, weight.value.cols());
  if (bias.present()) check_shape(bias.name, "the bias", bias.value, {weight.value.rows()});
  Tensor y = Tensor::empty({x.rows(), weight.value.rows()}, x.dtype());
  if (!context.tape && weight.packed.defined()) {
    kernels::matmul_packed(x, weight.packed, {.bias = bias.value}, y);
    return y;
  }
  kernels::matmul({x}, {weight.read(x.dtype()), true}, {.bias = bias.value}, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record([&tape, &weight, &bias, x, key = TensorKey(y)] {
    const Tensor dy = tape.take(key);
    if (!dy.defined()) return;
    auto [dx, accumulate] = tape.slot(x);
    kernels::matmul({dy}, {weight.read(x.dtype())}, {.accumulate = accumulate}, dx);
    kernels::matmul({dy, true}, {x}, {.accumulate = true}, weight.gradient);
    if (bias.present()) kernels::column_sums(dy, bias.gradient);
  });
  return y;
}

}  // namespace heed::ops
