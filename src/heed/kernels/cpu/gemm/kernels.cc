#include "heed/kernels/cpu/gemm/kernels.h"

#include <atomic>
#include <initializer_list>

#include "heed/kernels/cpu/simd/x86.h"
#include "heed/kernels/testing.h"

namespace heed::kernels::cpu {
namespace {

std::atomic<const MicroKernel*> forced_f32{nullptr}, forced_bf16{nullptr};

std::vector<const MicroKernel*> available(std::initializer_list<const MicroKernel*> kernels) {
  std::vector<const MicroKernel*> found;
  has(Instructions::none);  // throws if HEED_CPU names no machine, also where no kernels are given
  for (const MicroKernel* kernel : kernels)
    if (has(kernel->needs)) found.push_back(kernel);
  return found;
}

/// Those that this machine can run beside f32_kernel(), the fastest first.
const std::vector<const MicroKernel*>& x86_kernels(DType dtype) {
#if HEED_X86
  static const std::vector<const MicroKernel*> bf16 = available({&amx_kernel, &avx512_bf16_kernel});
  static const std::vector<const MicroKernel*> f32 = available({&amx_bf16x3_kernel});
#else
  static const std::vector<const MicroKernel*> bf16 = available({}), f32 = bf16;
#endif
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
  std::vector<const MicroKernel*> kernels = x86_kernels(dtype);
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
  const auto& kernels = x86_kernels(dtype);
  return kernels.empty() ? f32_kernel() : *kernels.front();
}

}  // namespace heed::kernels::cpu

namespace heed::kernels {

bool multiplies_bf16_faster() {
  return backend() == Backend::gpu || cpu::kernel_for(DType::bf16).panel_type == DType::bf16;
}

}  // namespace heed::kernels
