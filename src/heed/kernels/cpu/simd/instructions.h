#pragma once

namespace heed::kernels::cpu {

/// Instructions that some kernels need, and that Highway does not choose among.
enum class Instructions {
  none,
  avx2,         // with FMA and conversions of f16
  avx512,       // F, BW, DQ and VL
  avx_vnni,     // dot products of bytes in AVX2 vectors
  avx512_vnni,  // the same in AVX-512 vectors
  avx512_bf16,  // dot products of bf16
  amx_bf16,     // tiles of bf16
  amx_int8,     // tiles of bytes
  arm_dot       // dot products of bytes in NEON vectors: SDOT, UDOT
};

/// Whether the processor has them, the system lets this process use their registers, and the
/// environment variable HEED_CPU allows them. HEED_CPU limits the instructions that heed uses to
/// those of a lesser kind of machine. On x86: "baseline" (SSE4), "avx2" (without AVX-VNNI),
/// "avx2_vnni", "avx512" (without any VNNI, and without BF16), "avx512_bf16" (with both) or "amx".
/// On Arm: "baseline" (NEON) or "dotprod". It limits Highway's kernels, too. Without it there is no
/// limit. It is read when heed is loaded. Throws Error if HEED_CPU has another value; so does every
/// product, which asks this.
bool has(Instructions instructions);

}  // namespace heed::kernels::cpu
