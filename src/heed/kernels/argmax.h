#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/backend.h"

namespace heed::kernels {

/// The number of the first of the largest elements of x; -1 when there are none, and when a NaN is
/// among them.
HEED_KERNEL(int64_t, find_largest, (std::span<const float> x), (x))

}  // namespace heed::kernels
