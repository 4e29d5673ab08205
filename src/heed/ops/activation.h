#pragma once

#include "heed/kernels/activation.h"
#include "heed/ops/context.h"

namespace heed::ops {

using kernels::Activation;

/// y = f(x), any shape; see result_for().
Tensor activation(Context& context, Activation f, Tensor x);

/// y = f(gate) * up, equal shapes (Shazeer 2020); see result_for(). Throws Error when they differ.
Tensor gated(Context& context, Activation f, Tensor gate, const Tensor& up);

}  // namespace heed::ops
