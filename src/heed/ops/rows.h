#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/ops/context.h"

namespace heed::ops {

/// The given rows of x [N, D], which may repeat: [M, D]. Throws Error on a row outside x.
Tensor gather_rows(Context& context, const Tensor& x, std::span<const int32_t> rows);

/// The mean of the rows [offsets[b], offsets[b + 1]) of x [N, D] f32, for each b: [B, D]. Throws
/// Error on another dtype, and on offsets that have no row or rows outside x.
Tensor mean_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets);

}  // namespace heed::ops
