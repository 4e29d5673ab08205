#pragma once

#include "heed/kernels/dropout.h"
#include "heed/ops/context.h"

namespace heed::ops {

/// The mask of the pass's next dropout; of rate 0 without a tape. Throws Error when the rate is not
/// in [0, 1).
kernels::Dropout draw_dropout(Context& context, float rate);

/// y = dropout(x), the identity without a tape (Srivastava et al. 2014, scaled while training).
Tensor dropout(Context& context, const Tensor& x, float rate);

/// y = residual + dropout(x): the residual connection (He et al. 2016) in one pass. Equal shapes;
/// see result_for().
Tensor dropout_add(Context& context, Tensor x, const Tensor& residual, float rate);

}  // namespace heed::ops
