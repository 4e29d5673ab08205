// Integer products for 64-bit Arm with SDOT (Armv8.2 and later; Arm Cortex-A76, Apple M1).
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/arm.h"

#if HEED_ARM64

#include <arm_neon.h>
#include <hwy/base.h>

#include <algorithm>
#include <cstring>

HWY_PUSH_ATTRIBUTES(HEED_ARM_DOT)

#include "heed/kernels/cpu/simd/neon-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/simd/dot_sums-inl.h"
// After the sums:
#include "heed/kernels/cpu/gemm_int8/neon-inl.h"

namespace heed::kernels::cpu {

constinit const Int8Kernel neon_dot_int8_kernel{.name = "neon_dot",
                                                .needs = Instructions::arm_dot,
                                                .max_rows = kRows,
                                                .row_quants = RowQuants::bytes,
                                                .multiply = multiply<DotSums>};

}  // namespace heed::kernels::cpu

HWY_POP_ATTRIBUTES

#endif
