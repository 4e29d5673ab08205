#pragma once

#include "heed/kernels/cpu/simd/x86.h"

#if HEED_X86

#include <xmmintrin.h>

#include <cstddef>
#include <cstdint>

namespace heed::kernels::cpu {

/// Prefetches what follows `bytes` bytes at `from` in a stream that is read once: far ahead into
/// the level-2 cache, since hardware prefetchers stop at the end of a page, and a little ahead into
/// the level-1 cache, which has too few outstanding misses for the far lines.
inline void prefetch_ahead(const std::byte* from, int64_t bytes) {
  constexpr int64_t kFar = 4096, kNear = 2048;
  for (int64_t i = 0; i < bytes; i += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(from + kFar + i), _MM_HINT_T1);
    _mm_prefetch(reinterpret_cast<const char*>(from + kNear + i), _MM_HINT_T0);
  }
}

}  // namespace heed::kernels::cpu

#endif
