#include "heed/kernels/cpu/gemm_blocks/kernels.h"

#include "heed/base/rounding.h"
#include "heed/kernels/cpu/simd/kernel_choice.h"

namespace heed::kernels::cpu {
namespace {

KernelChoice<BlockKernel>& choice() {
  static KernelChoice<BlockKernel> instance{amx_block_kernel(), avx512_vnni_block_kernel(),
                                            avx_vnni_block_kernel(), avx2_block_kernel(),
                                            plain_block_kernel()};
  return instance;
}

}  // namespace

PanelLayout::PanelLayout(DType type, int64_t k) : dtype(type), blocks(k / kProductBlock) {
  constexpr int64_t kHalves = 2 * kPanelCols;  // bytes of f16 [16]
  const bool six = dtype == DType::q6_K;
  block_quants = dtype == DType::q8_0 ? 8 * kQuadBytes : six ? 6 * kQuadBytes : 4 * kQuadBytes;
  small_scales = k / block_elements(dtype) * (dtype == DType::q4_1 ? 2 * kHalves : kHalves);
  quants = round_up(small_scales + (six ? blocks * 2 * kPanelCols : 0), 64);
  bytes = quants + blocks * block_quants;
}

std::vector<const BlockKernel*> block_kernels() { return choice().all(); }

void force_block_kernel(const BlockKernel* kernel) { choice().force(kernel); }

const BlockKernel& block_kernel(int64_t rows) { return choice().of(rows); }

}  // namespace heed::kernels::cpu
