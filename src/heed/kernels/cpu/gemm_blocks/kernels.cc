#include "heed/kernels/cpu/gemm_blocks/kernels.h"

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/arm.h"
#include "heed/kernels/cpu/simd/kernel_choice.h"
#include "heed/kernels/cpu/simd/x86.h"
#include "heed/kernels/testing.h"

namespace heed::kernels::cpu {
namespace {

KernelChoice<BlockKernel>& choice() {
  static KernelChoice<BlockKernel> instance {
#if HEED_X86
    &amx_block_kernel, &avx512_vnni_block_kernel, &avx_vnni_block_kernel, &avx2_block_kernel,
#endif
#if HEED_ARM64
        &neon_dot_block_kernel, &neon_block_kernel,
#endif
        &plain_block_kernel
  };
  return instance;
}

}  // namespace

PanelLayout::PanelLayout(DType type, int64_t k) : dtype(type), blocks(k / kProductBlock) {
  const BlockTraits& traits = traits_of(dtype);
  const int64_t kinds = traits.has_minimum ? 2 : 1;  // of scales
  block_quants = kQuadBytes * traits.bits;
  sub_scales = k / traits.elements * kScaleBytes * kinds;
  block_sub_scales = kinds * sub_scale_parts(traits) * kPanelCols;
  quants = round_up(scales_end(), 64);
  bytes = quants + blocks * block_quants;
}

std::vector<const BlockKernel*> block_kernels() { return choice().all(); }

void force_block_kernel(const BlockKernel* kernel) { choice().force(kernel); }

const BlockKernel& block_kernel(int64_t rows) { return choice().of(rows); }

}  // namespace heed::kernels::cpu
