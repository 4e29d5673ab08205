// Integer products with blocks for 64-bit Arm with SDOT (Armv8.2 and later; Arm Cortex-A76, Apple
// M1).
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/arm.h"
#include "heed/kernels/cpu/simd/prefetch.h"

#if HEED_ARM64

#include <arm_neon.h>
#include <hwy/base.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES(HEED_ARM_DOT)

#include "heed/kernels/cpu/simd/neon-inl.h"
// After the vectors that they use:
#include "heed/kernels/cpu/gemm_blocks/panel-inl.h"
#include "heed/kernels/cpu/simd/dot_sums-inl.h"
// After the sums:
#include "heed/kernels/cpu/gemm_blocks/neon-inl.h"

namespace heed::kernels::cpu {

constinit const BlockKernel neon_dot_block_kernel{.name = "neon_dot",
                                                  .needs = Instructions::arm_dot,
                                                  .max_rows = kRows,
                                                  .interleave = kRows,
                                                  .multiply = multiply_strip<Neon<DotSums>, kRows>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
