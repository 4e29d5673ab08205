#include "heed/kernels/cpu/matmul_x86.h"

#if HEED_MATMUL_X86

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heed::kernels::cpu {
namespace {

bool bit(unsigned word, int index) { return (word >> index & 1u) != 0; }

}  // namespace

bool has_avx512_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // The compiler's check includes that the system keeps the registers.
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && bit(a, 5);
}

bool has_amx_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!has_avx512_bf16() || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  if (!bit(d, 22) || !bit(d, 24)) return false;  // AMX-BF16, AMX-TILE
  constexpr long kRequestPermission = 0x1023;    // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;                 // XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace heed::kernels::cpu

#endif
