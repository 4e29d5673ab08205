#pragma once

#include "heed/kernels/rotary.h"
#include "heed/ops/context.h"

namespace heed::ops {

/// Rotary positions (Su et al. 2021): x [N, H d] with the columns [begin, begin + r) of every head
/// rotated by the angles of its row; rotation [N, r / 2] each. Throws Error on sizes that do not
/// fit.
Tensor rotate(Context& context, const Tensor& x, const kernels::Rotation& rotation,
              const kernels::RotateOptions& options);

}  // namespace heed::ops
