#pragma once

#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <xmmintrin.h>

#include <cstddef>
#include <cstdint>

namespace heed::kernels::cpu {

/// Asks for what lies behind `bytes` bytes at `from`, which are about to be read once, as what
/// follows them is: far behind for the level-2 cache, since the processor itself does not look
/// beyond the end of a page, and a little behind for the level-1 cache, which can wait for too few
/// lines to be asked for the far ones as well.
inline void prefetch_behind(const std::byte* from, int64_t bytes) {
  constexpr int64_t kFar = 4096, kNear = 2048;
  for (int64_t i = 0; i < bytes; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(from + kFar + i), _MM_HINT_T1);
    _mm_prefetch(reinterpret_cast<const char*>(from + kNear + i), _MM_HINT_T0);
  }
}

}  // namespace heed::kernels::cpu

#endif
