#include "heed/kernels/cpu/matmul_kernels.h"

#include <atomic>

namespace heed::kernels::cpu {
namespace {

std::atomic<const MicroKernel*> forced_f32{nullptr}, forced_bf16{nullptr};

const MicroKernel* fastest_bf16() {
  static const MicroKernel* const fastest = kernels_for(DType::bf16).front();
  return fastest;
}

}  // namespace

MatrixView::MatrixView(const Factor& factor)
    : data(factor.matrix.raw()),
      dtype(factor.matrix.dtype()),
      rows(factor.rows()),
      cols(factor.cols()),
      stride(factor.matrix.cols()),
      transposed(factor.transposed) {}

std::vector<const MicroKernel*> kernels_for(DType dtype) {
  std::vector<const MicroKernel*> kernels;
  if (dtype == DType::bf16)
    for (const MicroKernel* kernel : {amx_kernel(), avx512_bf16_kernel()})
      if (kernel) kernels.push_back(kernel);
  kernels.push_back(&f32_kernel());
  return kernels;
}

void force_kernel(DType dtype, const MicroKernel* kernel) {
  (dtype == DType::bf16 ? forced_bf16 : forced_f32) = kernel;
}

const MicroKernel& kernel_for(DType dtype) {
  const bool bf16 = dtype == DType::bf16;
  if (const MicroKernel* forced = (bf16 ? forced_bf16 : forced_f32).load(std::memory_order_relaxed))
    return *forced;
  return bf16 ? *fastest_bf16() : f32_kernel();
}

}  // namespace heed::kernels::cpu

namespace heed::kernels {

bool multiplies_bf16_faster() { return cpu::kernel_for(DType::bf16).panel_type == DType::bf16; }

}  // namespace heed::kernels
