#pragma once

#include "heed/ops/context.h"

namespace heed::ops {

/// Softmax over the last axis.
Tensor softmax(Context& context, const Tensor& x);

}  // namespace heed::ops
