#pragma once

#include <cstdint>

#include "heed/gpu/code/operations.h"

namespace heed::kernels::gpu {

/// 16 bytes, which a kernel copies without a look at what they are.
struct alignas(16) Unit16 {
  uint32_t words[4];
};

}  // namespace heed::kernels::gpu
