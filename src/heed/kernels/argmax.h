#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"

namespace heed::kernels {

/// The index of the largest element of x; ties go to the first. -1 when x is empty or holds a NaN.
HEED_HOST_KERNEL(argmax, int64_t(std::span<const float> x));

}  // namespace heed::kernels
