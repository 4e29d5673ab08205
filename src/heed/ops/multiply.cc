#include "heed/ops/multiply.h"

#include <algorithm>
#include <array>

#include "heed/kernels/matmul.h"
#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/matmul_int8.h"
#include "heed/kernels/matmul_stored.h"
#include "heed/ops/check.h"

namespace heed::ops {
namespace {

void check(const Tensor& x, const Parameter& weight, const Parameter& bias) {
  check_width(weight.name, "the input", x, weight.value.cols());
  if (bias.present()) check_shape(bias.name, "the bias", bias.value, {weight.value.rows()});
}

}  // namespace

void multiply(const Tensor& x, const Parameter& weight, const Parameter& bias, Tensor& out) {
  check(x, weight, bias);
  const bool trained = weight.gradient.defined() || weight.working.defined();
  if (weight.packed.defined())
    kernels::matmul_packed(x, weight.packed, {.bias = bias.value}, out);
  else if (weight.int8.defined())
    kernels::matmul_int8(x, weight.int8, bias.value, out);
  else if (weight.blocks.defined())
    kernels::matmul_blocks(x, weight.blocks, bias.value, out);
  else if (trained && weight.has(x.dtype()))  // which packs it anew: little beside many rows
    kernels::matmul({x}, {weight.read(x.dtype()), true}, {.bias = bias.value}, out);
  else
    kernels::matmul_stored(x, weight.value, bias.value, out);
}

void multiply(const Tensor& x, std::span<const Multiplied> products) {
  constexpr size_t kTogether = 4;
  for (; !products.empty(); products = products.subspan(std::min(products.size(), kTogether))) {
    std::array<kernels::BlockProduct, kTogether> blocks{};
    std::array<kernels::Int8Product, kTogether> int8{};
    size_t block_count = 0, int8_count = 0;
    for (const auto& [weight, bias, out] : products.first(std::min(products.size(), kTogether))) {
      if (!weight.multiplies_integers()) {
        multiply(x, weight, bias, out);
        continue;
      }
      check(x, weight, bias);
      if (weight.int8.defined())
        int8[int8_count++] = {&weight.int8, &bias.value, &out};
      else
        blocks[block_count++] = {&weight.blocks, &bias.value, &out};
    }
    kernels::matmul_int8(x, {int8.data(), int8_count});
    kernels::matmul_blocks(x, {blocks.data(), block_count});
  }
}

}  // namespace heed::ops
