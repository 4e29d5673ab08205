#include "heed/ops/linear.h"

#include "heed/kernels/column_sums.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/adapter.h"
#include "heed/ops/int8_rounding.h"
#include "heed/ops/multiply.h"

namespace heed::ops {

Tensor linear(Context& context, const Tensor& x, const Parameter& weight, const Parameter& bias) {
  if (context.observe_product) context.observe_product(weight, x);
  Tensor y = Tensor::empty({x.rows(), weight.value.rows()}, x.dtype());
  if (!context.tape) {
    multiply(x, weight, bias, y);
    LowRankProducts(context, x, weight, y);
    return y;
  }
  Tape& tape = *context.tape;
  tape.use(weight, x.dtype());
  if (bias.present()) tape.use(bias);
  check_linear(x, weight, bias);
  const Tensor rounded =
      context.rounds_to_int8 ? rounded_to_int8(weight, x.dtype()) : Tensor();  // [out, in]
  const Tensor in = rounded.defined() ? rounded_to_int8(x) : x;
  kernels::matmul({in}, {rounded.defined() ? rounded : weight.read(x.dtype()), true},
                  {.bias = bias.value}, y);

  const LowRankProducts updates(context, x, weight, y);
  const SavedTensor saved = weight.trainable ? tape.save(in) : SavedTensor();
  tape.record(
      y, [&tape, &weight, &bias, saved, updates, rounded, input = TensorKey(x)](const Tensor& dy) {
        auto [dx, accumulate] = tape.slot(input);
        kernels::matmul({dy}, {rounded.defined() ? rounded : weight.read(input.dtype)},
                        {.accumulate = accumulate}, dx);
        updates.backward(tape, dy, dx);
        if (weight.trainable) {
          auto [d_weight, add] = tape.gradient(weight).slot();
          kernels::matmul({dy, true}, {saved.tensor()}, {.accumulate = add}, d_weight);
        }
        if (bias.present() && bias.trainable)
          kernels::column_sums(dy, tape.gradient(bias).materialized());
      });
  return y;
}

}  // namespace heed::ops
