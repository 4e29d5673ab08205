#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/context.h"

namespace heed::ops {

/// The rows of x [N, D] with these numbers, which may repeat: [M, D]. Throws Error on a row that x
/// does not have.
Tensor gather_rows(Context& context, const Tensor& x, std::span<const int32_t> rows);

}  // namespace heed::ops
