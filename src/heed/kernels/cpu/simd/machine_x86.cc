#include "heed/kernels/cpu/simd/machine.h"
#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <cpuid.h>
#include <hwy/targets.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace heed::kernels::cpu::machine {
namespace {

/// In the order of kNames; each machine has all instructions of those before it, except that avx512
/// has no dot products of bytes.
enum Machine : size_t { baseline, avx2, avx2_vnni, avx512, avx512_bf16, amx };
constexpr std::array<std::string_view, 6> kMachines{"baseline", "avx2",        "avx2_vnni",
                                                    "avx512",   "avx512_bf16", "amx"};

/// Highway gives better instruction sets lower numbers.
constexpr int64_t better_than(int64_t target) { return target - 1; }

/// A bit of a leaf of CPUID.
enum class Register { eax, ebx, ecx, edx };
bool has_bit(unsigned leaf, unsigned sub_leaf, Register word, int bit) {
  std::array<unsigned, 4> words{};
  return __get_cpuid_count(leaf, sub_leaf, &words[0], &words[1], &words[2], &words[3]) &&
         (words[static_cast<size_t>(word)] >> bit & 1u) != 0;
}
bool leaf7(unsigned sub_leaf, Register word, int bit) { return has_bit(7, sub_leaf, word, bit); }

/// Whether the system saves these registers, by their bits of XCR0.
bool saves(unsigned registers) {
  if (!has_bit(1, 0, Register::ecx, 27)) return false;  // no XGETBV
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & registers) == registers;
}

/// Whether there are tiles and the system grants their registers, which it saves only on request.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;               // XTILEDATA
  return processor_has(Instructions::avx512_bf16) && leaf7(0, Register::edx, 24) &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

constinit const std::span<const std::string_view> kNames{kMachines};

void limit_highway(size_t machine) {
  if (machine < avx512_bf16) hwy::DisableTargets(better_than(HWY_AVX3));
  if (machine < avx512) hwy::DisableTargets(better_than(HWY_AVX2));
  if (machine < avx2) hwy::DisableTargets(better_than(HWY_SSE4));
}

bool allows(size_t machine, Instructions instructions) {
  switch (instructions) {
    case Instructions::avx2:
      return machine >= avx2;
    case Instructions::avx_vnni:
      return machine >= avx2_vnni && machine != avx512;
    case Instructions::avx512:
      return machine >= avx512;
    case Instructions::avx512_vnni:
    case Instructions::avx512_bf16:
      return machine >= avx512_bf16;
    case Instructions::amx_bf16:
    case Instructions::amx_int8:
      return machine >= amx;
    default:
      return false;
  }
}

/// Not __builtin_cpu_supports(), which needs a part of the compiler's run-time library that not
/// every compiler has, nor hwy::SupportedTargets(), which undoes hwy::DisableTargets().
bool processor_has(Instructions instructions) {
  constexpr unsigned kVectors256 = 0x6, kVectors512 = 0xe6;
  switch (instructions) {
    case Instructions::avx2:
      return saves(kVectors256) && leaf7(0, Register::ebx, 5) &&
             has_bit(1, 0, Register::ecx, 12) &&  // FMA
             has_bit(1, 0, Register::ecx, 29);    // F16C
    case Instructions::avx512:
      return saves(kVectors512) && leaf7(0, Register::ebx, 16) &&  // F
             leaf7(0, Register::ebx, 17) &&                        // DQ
             leaf7(0, Register::ebx, 30) &&                        // BW
             leaf7(0, Register::ebx, 31);                          // VL
    case Instructions::avx_vnni:
      return processor_has(Instructions::avx2) && leaf7(1, Register::eax, 4);
    case Instructions::avx512_vnni:
      return processor_has(Instructions::avx512) && leaf7(0, Register::ecx, 11);
    case Instructions::avx512_bf16:
      return processor_has(Instructions::avx512) && leaf7(1, Register::eax, 5);
    case Instructions::amx_bf16:
      return leaf7(0, Register::edx, 22) && may_use_tiles();
    case Instructions::amx_int8:
      return leaf7(0, Register::edx, 25) && may_use_tiles();
    default:
      return false;
  }
}

}  // namespace heed::kernels::cpu::machine

#endif
