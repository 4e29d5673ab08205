#pragma once

#include "heed/ops/parameter.h"

namespace heed::ops {

/// out = x W^T + b without a backward step: x [N, in] f32 or bf16, weight [out, in] of any stored
/// dtype, bias [out] f32 or absent, out [N, out] in f32 or x's dtype. The one place that knows how
/// a weight can be multiplied with: packed, in blocks (x is then quantised, too), in x's dtype
/// while it is trained, or read from where it lies as it is stored. Throws Error on a width that
/// does not fit.
void multiply(const Tensor& x, const Parameter& weight, const Parameter& bias, Tensor& out);

}  // namespace heed::ops
