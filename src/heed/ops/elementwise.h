#pragma once

#include "heed/ops/context.h"

namespace heed::ops {

/// y = factor * x.
Tensor scale(Context& context, const Tensor& x, float factor);

/// x + y, of one shape and dtype.
Tensor add(Context& context, const Tensor& x, const Tensor& y);

/// x in f32: itself when it is.
Tensor to_f32(Context& context, const Tensor& x);

}  // namespace heed::ops
