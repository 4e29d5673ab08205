// 64-bit Arm, and all processors of which heed knows nothing.
#include "heed/kernels/cpu/simd/arm.h"
#include "heed/kernels/cpu/simd/machine.h"
#include "heed/kernels/cpu/simd/x86.h"

#if !HEED_X86

#include <array>

#if HEED_ARM64 && defined(__linux__)
#include <sys/auxv.h>
#elif HEED_ARM64 && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace heed::kernels::cpu::machine {
namespace {

enum Machine : size_t { baseline, dotprod };
constexpr std::array<std::string_view, 2> kMachines{"baseline", "dotprod"};

/// SDOT and UDOT.
bool has_dot_products() {
#if HEED_ARM64 && defined(__linux__)
  constexpr unsigned long kDotProducts = 1ul << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDotProducts) != 0;
#elif HEED_ARM64 && defined(__APPLE__)
  int value = 0;
  size_t size = sizeof(value);
  return sysctlbyname("hw.optional.arm.FEAT_DotProd", &value, &size, nullptr, 0) == 0 && value != 0;
#else
  return false;
#endif
}

}  // namespace

constinit const std::span<const std::string_view> kNames{kMachines};

/// Highway's kernels are compiled for NEON alone.
void limit_highway(size_t) {}

bool allows(size_t machine, Instructions instructions) {
  return instructions == Instructions::arm_dot && machine >= dotprod;
}

bool processor_has(Instructions instructions) {
  return instructions == Instructions::arm_dot && has_dot_products();
}

}  // namespace heed::kernels::cpu::machine

#endif
