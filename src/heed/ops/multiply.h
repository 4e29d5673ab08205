#pragma once

#include <span>

#include "heed/ops/parameter.h"

namespace heed::ops {

/// out = x W^T + b without a backward step: x [N, in] f32 or bf16, weight [out, in] of any stored
/// dtype, bias [out] f32 or absent, out [N, out] in f32 or x's dtype. The one place that knows how
/// a weight can be multiplied with: packed, as integers (x is then quantised, too), in x's dtype
/// while it is trained, or read from where it lies as it is stored. Throws Error on a width that
/// does not fit.
void multiply(const Tensor& x, const Parameter& weight, const Parameter& bias, Tensor& out);

/// One of several products with the same input.
struct Multiplied {
  const Parameter& weight;
  const Parameter& bias;
  Tensor& out;
};

/// Each out = x W^T + b, bit for bit as one by one. Weights of integers are multiplied with
/// together: x is quantised once for all of a kind, and threads meet once for them, which pays for
/// few rows.
void multiply(const Tensor& x, std::span<const Multiplied> products);

}  // namespace heed::ops
