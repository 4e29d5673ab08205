#pragma once

namespace heed::kernels::cpu {

/// What kernels written for x86 instructions, which Highway does not choose among, may need.
enum class Instructions {
  avx2,         // with FMA and conversions of f16
  avx512,       // F, BW, DQ and VL
  avx_vnni,     // dot products of bytes in vectors of AVX2
  avx512_vnni,  // the same in those of AVX-512
  avx512_bf16,  // dot products of bf16
  amx_bf16,     // tiles of bf16
  amx_int8      // tiles of bytes
};

/// Whether the processor has them, the system lets this process use their registers, and the
/// environment does not rule them out: HEED_CPU names the machine that is made do with. It is
/// "baseline" (SSE4), "avx2", "avx512", "avx512_bf16" (with VNNI) or "amx"; without it all there is
/// is used. It binds Highway's kernels, too.
bool has(Instructions instructions);

}  // namespace heed::kernels::cpu
