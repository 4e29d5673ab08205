#pragma once

#include "heed/ops/context.h"
#include "heed/ops/parameter.h"

namespace heed::ops {

/// y = x W^T + b: x [N, in], weight [out, in], bias [out] or absent; y [N, out] in x's dtype. The
/// context's adapters add their updates of the weight (ops/adapter.h). dX = dY W, dW += dY^T X,
/// db += the column sums of dY; a frozen weight or bias gets none. Throws Error on a width that
/// does not fit, and with a tape on a trained weight that is not f32.
Tensor linear(Context& context, const Tensor& x, const Parameter& weight, const Parameter& bias);

}  // namespace heed::ops
