#pragma once

#include "heed/kernels/activation.h"
#include "heed/ops/context.h"

namespace heed::ops {

using kernels::Activation;

/// y = f(x), any shape.
Tensor activation(Context& context, Activation f, const Tensor& x);

/// y = f(gate) * up, equal shapes (Shazeer 2020). Throws Error when they differ.
Tensor gated(Context& context, Activation f, const Tensor& gate, const Tensor& up);

}  // namespace heed::ops
