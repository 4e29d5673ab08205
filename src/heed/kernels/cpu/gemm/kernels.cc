#include "heed/kernels/cpu/gemm/kernels.h"

#include <atomic>

namespace heed::kernels::cpu {
namespace {

std::atomic<const MicroKernel*> forced_f32{nullptr}, forced_bf16{nullptr};

/// Null: the f32 kernel, of the instruction set that Highway is told to use.
const MicroKernel* fastest(DType dtype) {
  static const MicroKernel* const amx = amx_kernel();
  static const MicroKernel* const bf16 = amx ? amx : avx512_bf16_kernel();
  static const MicroKernel* const f32 = amx_split_kernel();
  return dtype == DType::bf16 ? bf16 : f32;
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
  const auto add = [&](const MicroKernel* kernel) {
    if (kernel) kernels.push_back(kernel);
  };
  if (dtype == DType::bf16) {
    add(amx_kernel());
    add(avx512_bf16_kernel());
  } else {
    add(amx_split_kernel());
  }
  add(&f32_kernel());
  return kernels;
}

void force_kernel(DType dtype, const MicroKernel* kernel) {
  (dtype == DType::bf16 ? forced_bf16 : forced_f32) = kernel;
}

const MicroKernel& kernel_for(DType dtype) {
  const bool bf16 = dtype == DType::bf16;
  if (const MicroKernel* forced = (bf16 ? forced_bf16 : forced_f32).load(std::memory_order_relaxed))
    return *forced;
  const MicroKernel* kernel = fastest(dtype);
  return kernel ? *kernel : f32_kernel();
}

}  // namespace heed::kernels::cpu

namespace heed::kernels {

bool multiplies_bf16_faster() { return cpu::kernel_for(DType::bf16).panel_type == DType::bf16; }

}  // namespace heed::kernels
