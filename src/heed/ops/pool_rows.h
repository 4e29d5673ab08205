#pragma once

#include <cstdint>
#include <vector>

#include "heed/ops/context.h"

// Groups of rows of x [N, D] f32 become one row each, [B, D]: group b has the rows [offsets[b],
// offsets[b + 1]). All throw Error on another dtype, and on offsets that have no row or rows
// outside x.
namespace heed::ops {

/// The sums of weights[n] * x[n]. Throws Error when there are not N weights.
Tensor sum_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets,
                const std::vector<float>& weights);

/// The means.
Tensor mean_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets);

/// The maximum of each column; its gradient is that of the first row that has it.
Tensor max_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets);

}  // namespace heed::ops
