#include "heed/kernels/cpu/gemm_int8/kernels.h"

#include <algorithm>

#include "heed/kernels/cpu/simd/arm.h"
#include "heed/kernels/cpu/simd/kernel_choice.h"
#include "heed/kernels/cpu/simd/x86.h"
#include "heed/kernels/testing.h"

namespace heed::kernels::cpu {
namespace {

KernelChoice<Int8Kernel>& choice() {
  static KernelChoice<Int8Kernel> instance {
#if HEED_X86
    &amx_int8_kernel, &avx512_vnni_int8_kernel, &avx512_int8_kernel, &avx_vnni_int8_kernel,
        &avx2_int8_kernel,
#endif
#if HEED_ARM64
        &neon_dot_int8_kernel, &neon_int8_kernel,
#endif
        &plain_int8_kernel
  };
  return instance;
}

void multiply(const Int8Strip& strip) {
  const int8_t* b = strip.panel.quants();
  for (int64_t r = 0; r < strip.rows; ++r) {
    const auto* a = reinterpret_cast<const int8_t*>(strip.a + r * strip.row_bytes);
    int32_t* dots = strip.dots + r * kInt8Cols;
    std::fill_n(dots, kInt8Cols, 0);
    for (int64_t quad = 0; quad < strip.panel.depth / 4; ++quad)
      for (int64_t i = 0; i < kInt8QuadBytes; ++i)
        dots[i / 4] += a[4 * quad + i % 4] * b[quad * kInt8QuadBytes + i];
  }
}

}  // namespace

constinit const Int8Kernel plain_int8_kernel{.name = "plain",
                                             .needs = Instructions::none,
                                             .max_rows = 1,
                                             .row_quants = RowQuants::bytes,
                                             .multiply = multiply};

std::vector<const Int8Kernel*> int8_kernels() { return choice().all(); }

void force_int8_kernel(const Int8Kernel* kernel) { choice().force(kernel); }

const Int8Kernel& int8_kernel(int64_t rows) { return choice().of(rows); }

}  // namespace heed::kernels::cpu
