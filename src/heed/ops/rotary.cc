#include "heed/ops/rotary.h"

#include "heed/ops/check.h"

namespace heed::ops {
namespace {

void check(const Tensor& x, const kernels::Rotation& rotation,
           const kernels::RotateOptions& options) {
  require(options.n_heads > 0 && x.cols() % options.n_heads == 0,
          "rotate: x is {}, its width is not divisible by {} heads", x.shape().text(),
          options.n_heads);
  require(rotation.cos.defined(), "rotate: the angles are missing");
  const int64_t rotated = 2 * rotation.cos.cols(), d = x.cols() / options.n_heads;
  check_shape("rotate", "cos", rotation.cos, {x.rows(), rotated / 2});
  check_shape("rotate", "sin", rotation.sin, {x.rows(), rotated / 2});
  require(options.begin >= 0 && options.begin + rotated <= d,
          "rotate: heads of {} columns have no columns {} to {}", d, options.begin,
          options.begin + rotated);
}

}  // namespace

Tensor rotate(Context& context, const Tensor& x, const kernels::Rotation& rotation,
              const kernels::RotateOptions& options) {
  check(x, rotation, options);
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  kernels::rotate(x, rotation, options, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  kernels::RotateOptions back = options;
  back.inverse = !options.inverse;
  tape.record(y, [&tape, rotation, back, from = TensorKey(x)](Tensor dy) {
    kernels::rotate(dy, rotation, back, dy);
    tape.add(from, dy);
  });
  return y;
}

}  // namespace heed::ops
