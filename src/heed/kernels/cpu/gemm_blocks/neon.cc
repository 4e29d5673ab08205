// Integer products with blocks for every 64-bit Arm processor, in 16 bits.
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/simd/arm.h"
#include "heed/kernels/cpu/simd/prefetch.h"

#if HEED_ARM64

#include "heed/kernels/cpu/simd/neon-inl.h"
// After the vectors that they use:
#include "heed/kernels/cpu/gemm_blocks/panel-inl.h"
#include "heed/kernels/cpu/simd/neon_sums-inl.h"
// After the sums:
#include "heed/kernels/cpu/gemm_blocks/neon-inl.h"

namespace heed::kernels::cpu {

constinit const BlockKernel neon_block_kernel{.name = "neon",
                                              .needs = Instructions::none,
                                              .max_rows = kRows,
                                              .interleave = kRows,
                                              .multiply = multiply_strip<Neon<NeonSums>, kRows>};

}  // namespace heed::kernels::cpu

#endif
