#include "heed/ops/multiply.h"

#include "heed/kernels/matmul_stored.h"
#include "heed/ops/check.h"

namespace heed::ops {

void check_linear(const Tensor& x, const Parameter& weight, const Parameter& bias) {
  check_width(weight.name, "the input", x, weight.value.cols());
  if (bias.present()) check_shape(bias.name, "the bias", bias.value, {weight.value.rows()});
}

void multiply(const Tensor& x, const Parameter& weight, const Parameter& bias, Tensor& out) {
  check_linear(x, weight, bias);
  if (weight.packed.defined())
    weight.packed.multiply(x, bias.value, out);
  else
    kernels::matmul_stored(x, weight.value, bias.value, out);
}

void multiply(const Tensor& x, std::span<const Product> products) {
  PackedWeight::Products packed(x);
  for (const auto& [weight, bias, out] : products) {
    check_linear(x, weight, bias);
    if (weight.packed.defined())
      packed.add(weight.packed, bias.value, out);
    else
      kernels::matmul_stored(x, weight.value, bias.value, out);
  }
  packed.run();
}

}  // namespace heed::ops
