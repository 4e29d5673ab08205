#pragma once

#include <cstdint>
#include <span>

#include "heed/kernels/kernel.h"

namespace heed::kernels {

namespace cpu {
int64_t argmax(std::span<const float> x);
}
namespace reference {
int64_t argmax(std::span<const float> x);
}

/// The index of the largest element of x; ties go to the first. -1 when x is empty or holds a NaN.
inline constexpr Kernel<int64_t(std::span<const float> x)> argmax{cpu::argmax, reference::argmax};

}  // namespace heed::kernels
