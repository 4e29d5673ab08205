// Chains of products of int8 with instructions of 64-bit Arm that Highway does not offer.
#include "heed/kernels/cpu/simd/arm.h"
#include "heed/kernels/cpu/simd/instructions.h"
#include "heed/kernels/cpu/simd/limits.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_ARM64

#include <arm_neon.h>
#include <hwy/base.h>

namespace heed::kernels::cpu {
namespace {

void multiply_bytes_neon() {
  const int8x16_t x = vdupq_n_s8(1);
  int32x4_t sums[kChains];
  for (int32x4_t& sum : sums) sum = vdupq_n_s32(0);
  for (int64_t i = 0; i < kLinks; ++i)
    for (int32x4_t& sum : sums) {
      const int16x8_t products = vmull_s8(vreinterpret_s8_s32(vget_low_s32(sum)), vget_low_s8(x));
      sum = vpadalq_s16(sum, vmlal_high_s8(products, x, x));
    }
  for (int32x4_t& sum : sums) __asm__ volatile("" : : "w"(sum));
}

HWY_PUSH_ATTRIBUTES(HEED_ARM_DOT)

void multiply_bytes_dot() {
  const int8x16_t x = vdupq_n_s8(1);
  int32x4_t sums[kChains];
  for (int32x4_t& sum : sums) sum = vdupq_n_s32(0);
  for (int64_t i = 0; i < kLinks; ++i)
    for (int32x4_t& sum : sums) {
      sum = vdotq_s32(sum, x, x);
      __asm__ volatile("" : "+w"(sum));  // else the compiler multiplies once
    }
}

HWY_POP_ATTRIBUTES

constexpr double kOperations = 2 * 16;  // of a link of a chain

}  // namespace

std::optional<ArithmeticRate> measure_intrinsics(Compute arithmetic, double seconds) {
  if (arithmetic != Compute::int8) return std::nullopt;
  if (has(Instructions::arm_dot))
    return ArithmeticRate{best_chain_rate(seconds, kOperations, multiply_bytes_dot), "SDOT"};
  return ArithmeticRate{best_chain_rate(seconds, kOperations, multiply_bytes_neon), "NEON"};
}

}  // namespace heed::kernels::cpu

#elif !HEED_X86

namespace heed::kernels::cpu {

std::optional<ArithmeticRate> measure_intrinsics(Compute, double) { return std::nullopt; }

}  // namespace heed::kernels::cpu

#endif
