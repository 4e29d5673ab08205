#pragma once

#include "heed/ops/context.h"

namespace heed::ops {

/// y = factor * x.
Tensor scale(Context& context, const Tensor& x, float factor);

/// x + y, of one shape and dtype.
Tensor add(Context& context, const Tensor& x, const Tensor& y);

/// x in a dtype, f32 or bf16: itself when it is.
Tensor convert(Context& context, const Tensor& x, DType dtype);
/// x in f32.
inline Tensor to_f32(Context& context, const Tensor& x) { return convert(context, x, DType::f32); }

}  // namespace heed::ops
