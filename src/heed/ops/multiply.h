#pragma once

#include <span>

#include "heed/ops/parameter.h"

namespace heed::ops {

/// Throws Error when x [N, in], weight [out, in] and bias [out] (or absent) do not fit.
void check_linear(const Tensor& x, const Parameter& weight, const Parameter& bias);

/// out = x W^T + b without a backward step: x [N, in] f32 or bf16, weight [out, in], bias [out] f32
/// or absent, out [N, out] in f32 or x's dtype. A packed weight is multiplied in its packed form;
/// any other is read as it is stored. Throws Error on a width that does not fit.
void multiply(const Tensor& x, const Parameter& weight, const Parameter& bias, Tensor& out);

/// One of several products with the same input.
struct Product {
  const Parameter& weight;
  const Parameter& bias;
  Tensor& out;
};

/// out = x W^T + b for each product, with the same bits as one at a time (see
/// PackedWeight::Products).
void multiply(const Tensor& x, std::span<const Product> products);

}  // namespace heed::ops
