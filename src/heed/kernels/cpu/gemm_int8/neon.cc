// Integer products for every 64-bit Arm processor, in 16 bits.
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/cpu/simd/arm.h"

#if HEED_ARM64

#include "heed/kernels/cpu/simd/neon-inl.h"
// After the vectors that it uses:
#include "heed/kernels/cpu/simd/neon_sums-inl.h"
// After the sums:
#include "heed/kernels/cpu/gemm_int8/neon-inl.h"

namespace heed::kernels::cpu {

constinit const Int8Kernel neon_int8_kernel{.name = "neon",
                                            .needs = Instructions::none,
                                            .max_rows = kRows,
                                            .row_quants = RowQuants::bytes,
                                            .multiply = multiply<NeonSums>};

}  // namespace heed::kernels::cpu

#endif
