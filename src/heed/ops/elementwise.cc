#include "heed/ops/elementwise.h"

#include "heed/kernels/elementwise.h"
#include "heed/ops/dropout.h"

namespace heed::ops {

Tensor scale(Context& context, const Tensor& x, float factor) {
  Tensor y = x.clone();
  kernels::scale(factor, y);
  if (!context.tape) return y;
  Tape& tape = *context.tape;
  tape.record(y, [&tape, factor, input = TensorKey(x)](Tensor dy) {
    kernels::scale(factor, dy);
    tape.add(input, dy);
  });
  return y;
}

Tensor add(Context& context, const Tensor& x, const Tensor& y) {
  return dropout_add(context, x, y, 0.0f);
}

Tensor convert(Context& context, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor y = Tensor::empty(x.shape(), dtype);
  kernels::convert(x, y);
  if (!context.tape) return y;
  Tape& tape = *context.tape;
  tape.record(y, [&tape, input = TensorKey(x)](const Tensor& dy) {
    Tensor dx = Tensor::empty(dy.shape(), input.dtype);
    kernels::convert(dy, dx);
    tape.add(input, dx);
  });
  return y;
}

}  // namespace heed::ops
