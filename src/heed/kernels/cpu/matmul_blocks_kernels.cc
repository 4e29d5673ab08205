#include "heed/kernels/cpu/matmul_blocks_kernels.h"

#include <algorithm>
#include <atomic>

namespace heed::kernels::cpu {
namespace {

std::atomic<const BlockKernel*> forced{nullptr};

constexpr int64_t up_to_lines(int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

PanelLayout::PanelLayout(DType type, int64_t k) : dtype(type), blocks(k / kProductBlock) {
  constexpr int64_t kHalves = 2 * kPanelCols;  // bytes of f16 [16]
  const bool six = dtype == DType::q6_K;
  block_quants = dtype == DType::q8_0 ? 8 * kQuadBytes : six ? 6 * kQuadBytes : 4 * kQuadBytes;
  small_scales = k / block_elements(dtype) * (dtype == DType::q4_1 ? 2 * kHalves : kHalves);
  quants = up_to_lines(small_scales + (six ? blocks * 2 * kPanelCols : 0));
  bytes = quants + blocks * block_quants;
}

std::vector<const BlockKernel*> block_kernels() {
  std::vector<const BlockKernel*> kernels;
  for (const BlockKernel* kernel :
       {amx_block_kernel(), avx512_vnni_block_kernel(), avx_vnni_block_kernel(),
        avx2_block_kernel(), plain_block_kernel()})
    if (kernel) kernels.push_back(kernel);
  return kernels;
}

void force_block_kernel(const BlockKernel* kernel) { forced = kernel; }

const BlockKernel& block_kernel(int64_t rows) {
  static const std::vector<const BlockKernel*> kernels = block_kernels();
  if (const BlockKernel* kernel = forced.load(std::memory_order_relaxed)) return *kernel;
  return **std::find_if(kernels.begin(), kernels.end(),
                        [&](const BlockKernel* kernel) { return rows >= kernel->least_rows; });
}

}  // namespace heed::kernels::cpu
