#pragma once

// What the micro-kernels written for x86 instructions need to know of the machine.
#if defined(__x86_64__) && defined(__linux__)
#define HEED_MATMUL_X86 1
#else
#define HEED_MATMUL_X86 0
#endif

// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace heed::kernels::cpu {

/// The processor has AVX-512 (F, BW, DQ, VL) with dot products of bf16, and the system keeps its
/// registers.
bool has_avx512_bf16();

/// The same, and AMX with bf16, whose tile registers the system lets this process use.
bool has_amx_bf16();

}  // namespace heed::kernels::cpu
