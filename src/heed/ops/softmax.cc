#include "heed/ops/softmax.h"

#include "heed/kernels/softmax.h"

namespace heed::ops {

Tensor softmax(Context& context, const Tensor& x) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  kernels::softmax_forward(x, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, y, input = TensorKey(x)](const Tensor& dy) {
    Tensor dx = Tensor::empty(dy.shape(), dy.dtype());
    kernels::softmax_backward(y, dy, dx);
    tape.add(input, dx);
  });
  return y;
}

}  // namespace heed::ops
