#include "heed/ops/norm.h"

#include "heed/kernels/elementwise.h"
#include "heed/kernels/norm.h"
#include "heed/ops/check.h"

namespace heed::ops {
namespace {

/// The tensor that a backward kernel adds the gradient of a vector [D] to. For a frozen or absent
/// vector it is a temporary, since the kernel always writes it.
Tensor sum_for(Tape& tape, const Parameter& vector, int64_t width) {
  if (!vector.trainable || !vector.present()) return Tensor::zeros({width});
  return tape.gradient(vector).materialized();
}

/// Tells the tape that a norm uses a vector, unless that is absent.
void use(const Context& context, const Parameter& vector) {
  if (context.tape && vector.present()) context.tape->use(vector);
}

Tensor plus_one(const Tensor& weight) {
  Tensor scale = Tensor::full(weight.shape(), 1.0f);
  kernels::add_to(weight, scale);
  return scale;
}

}  // namespace

Tensor layer_norm(Context& context, Tensor x, const Parameter& weight, const Parameter& bias,
                  float epsilon) {
  use(context, weight);
  use(context, bias);
  check_shape(weight.name, "the scale", weight.value, {x.cols()});
  if (bias.present()) check_shape(bias.name, "the shift", bias.value, {x.cols()});
  const Tensor shift = bias.present() ? bias.value : Tensor::zeros({x.cols()});
  Tensor stats = Tensor::empty({x.rows(), 2});
  const auto normalise = [&weight, shift, epsilon](const Tensor& in, Tensor y, Tensor statistics) {
    kernels::layer_norm_forward({in, weight.value, shift, epsilon}, y, statistics);
    return y;
  };
  const Tensor y = normalise(x, result_for(context, x), stats);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  const auto recompute = [normalise, x, stats] {
    return normalise(x, Tensor::empty(x.shape(), x.dtype()), stats);
  };
  tape.record(y, [&tape, &weight, &bias, shift, epsilon, x, stats,
                  again = tape.recompute(y, recompute)](const Tensor& dy) {
    Tensor d_weight = sum_for(tape, weight, x.cols()), d_bias = sum_for(tape, bias, x.cols());
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    kernels::layer_norm_backward({x, weight.value, shift, epsilon}, stats, dy,
                                 {dx, d_weight, d_bias});
    tape.add(x, dx);
  });
  return y;
}

Tensor rms_norm(Context& context, Tensor x, const Parameter& weight, float epsilon,
                bool unit_offset) {
  use(context, weight);
  check_shape(weight.name, "the scale", weight.value, {x.cols()});
  const Tensor scale = unit_offset ? plus_one(weight.value) : weight.value;
  Tensor stats = Tensor::empty({x.rows(), 1});
  const auto normalise = [scale, epsilon](const Tensor& in, Tensor y, Tensor statistics) {
    kernels::rms_norm_forward({in, scale, epsilon}, y, statistics);
    return y;
  };
  const Tensor y = normalise(x, result_for(context, x), stats);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  const auto recompute = [normalise, x, stats] {
    return normalise(x, Tensor::empty(x.shape(), x.dtype()), stats);
  };
  tape.record(y, [&tape, &weight, scale, epsilon, x, stats,
                  again = tape.recompute(y, recompute)](const Tensor& dy) {
    Tensor d_weight = sum_for(tape, weight, x.cols());
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    kernels::rms_norm_backward({x, scale, epsilon}, stats, dy, {dx, d_weight});
    tape.add(x, dx);
  });
  return y;
}

}  // namespace heed::ops
