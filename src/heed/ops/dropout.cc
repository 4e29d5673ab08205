#include "heed/ops/dropout.h"

#include "heed/ops/check.h"

namespace heed::ops {

kernels::Dropout draw_dropout(Context& context, float rate) {
  require(rate >= 0.0f && rate < 1.0f, "dropout: the rate is {}, expected at least 0 and below 1",
          rate);
  if (!context.training() || rate == 0.0f) return {};
  return {rate, context.next_dropout_key()};
}

Tensor dropout(Context& context, const Tensor& x, float rate) {
  const kernels::Dropout mask = draw_dropout(context, rate);
  if (mask.rate == 0.0f) return x;
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  kernels::dropout_add_forward(x, {}, mask, y);
  Tape& tape = *context.tape;
  tape.record(y, [&tape, mask, input = TensorKey(x)](Tensor dy) {
    kernels::dropout_backward(dy, mask, dy);
    tape.add(input, dy);
  });
  return y;
}

Tensor dropout_add(Context& context, Tensor x, const Tensor& residual, float rate) {
  check_shape("dropout_add", "the residual", residual, x.shape());
  const kernels::Dropout mask = draw_dropout(context, rate);
  Tensor y = result_for(context, x);
  kernels::dropout_add_forward(x, residual, mask, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, mask, input = TensorKey(x), skip = TensorKey(residual)](const Tensor& dy) {
    Tensor dx = Tensor::empty(dy.shape(), dy.dtype());
    kernels::dropout_backward(dy, mask, dx);
    tape.add(input, dx);
    tape.add(skip, dy);
  });
  return y;
}

}  // namespace heed::ops
