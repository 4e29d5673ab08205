#pragma once

#include <cstddef>
#include <cstdint>

namespace heed::kernels::cpu {

/// Prefetches `bytes` bytes into the level-2 cache.
inline void prefetch_to_level2(const void* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(static_cast<const char*>(from) + i, 0, 2);
}

/// Prefetches what follows `bytes` bytes at `from` in a stream that is read once: far ahead into
/// the level-2 cache, since hardware prefetchers stop at the end of a page, and a little ahead into
/// the level-1 cache, which has too few outstanding misses for the far lines.
inline void prefetch_ahead(const std::byte* from, int64_t bytes) {
  constexpr int64_t kFar = 4096, kNear = 2048;
  for (int64_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(from + kFar + i, 0, 2);
    __builtin_prefetch(from + kNear + i, 0, 3);
  }
}

}  // namespace heed::kernels::cpu
