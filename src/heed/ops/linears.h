#pragma once

#include <array>
#include <utility>

#include "heed/ops/adapter.h"
#include "heed/ops/linear.h"
#include "heed/ops/multiply.h"

namespace heed::ops {

/// One of several linear maps of the same input.
struct LinearMap {
  const Parameter& weight;
  const Parameter& bias;
};

/// linear() of x with each map, bit for bit. Without a tape the products share their work
/// (see PackedWeight::Products). Throws Error as linear() does.
template <size_t n>
std::array<Tensor, n> linears(Context& context, const Tensor& x, const LinearMap (&maps)[n]) {
  std::array<Tensor, n> outputs;
  if (context.tape || context.observe_product) {
    for (size_t i = 0; i < n; ++i) outputs[i] = linear(context, x, maps[i].weight, maps[i].bias);
    return outputs;
  }
  for (size_t i = 0; i < n; ++i)
    outputs[i] = Tensor::empty({x.rows(), maps[i].weight.value.rows()}, x.dtype());
  [&]<size_t... i>(std::index_sequence<i...>) {
    const Product products[] = {{maps[i].weight, maps[i].bias, outputs[i]}...};
    multiply(x, products);
  }
  (std::make_index_sequence<n>());
  for (size_t i = 0; i < n; ++i) LowRankProducts(context, x, maps[i].weight, outputs[i]);
  return outputs;
}

}  // namespace heed::ops
