#include "heed/ops/multiply.h"

#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/matmul_stored.h"
#include "heed/ops/check.h"

namespace heed::ops {

void multiply(const Tensor& x, const Parameter& weight, const Parameter& bias, Tensor& out) {
  check_width(weight.name, "the input", x, weight.value.cols());
  if (bias.present()) check_shape(bias.name, "the bias", bias.value, {weight.value.rows()});
  const bool trained = weight.gradient.defined() || weight.working.defined();
  if (weight.packed.defined())
    kernels::matmul_packed(x, weight.packed, {.bias = bias.value}, out);
  else if (weight.blocks.defined())
    kernels::matmul_blocks(x, weight.blocks, bias.value, out);
  else if (trained && weight.has(x.dtype()))  // which packs it anew: little beside many rows
    kernels::matmul({x}, {weight.read(x.dtype()), true}, {.bias = bias.value}, out);
  else
    kernels::matmul_stored(x, weight.value, bias.value, out);
}

}  // namespace heed::ops
