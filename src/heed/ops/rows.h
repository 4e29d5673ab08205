#pragma once

#include <cstdint>
#include <span>

#include "heed/ops/context.h"

namespace heed::ops {

/// The given rows of x [N, D], which may repeat: [M, D]. Throws Error on a row outside x.
Tensor gather_rows(Context& context, const Tensor& x, std::span<const int32_t> rows);

}  // namespace heed::ops
