#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels {

/// Elements per chunk of parallel_for: about 20 microseconds, so that waking a thread pays. Light
/// work is a few operations per element; heavy work computes exponentials.
inline constexpr int64_t kLightGrain = int64_t{1} << 16;
inline constexpr int64_t kHeavyGrain = int64_t{1} << 15;

/// The same in rows of `cols` elements.
inline int64_t grain_rows(int64_t grain, int64_t cols) {
  return std::max<int64_t>(1, grain / std::max<int64_t>(1, cols));
}

/// Calls run(i, chunk) for the chunks(i) chunks of each of `count` jobs, on all threads, in one
/// parallel region.
template <typename Chunks, typename Run>
void parallel_over(size_t count, const Chunks& chunks, const Run& run) {
  int64_t all = 0;
  for (size_t i = 0; i < count; ++i) all += chunks(i);
  parallel_for(all, 1, [&](int64_t begin, int64_t end) {
    for (size_t i = 0; i < count; ++i) {
      const int64_t own = chunks(i);
      for (int64_t chunk = std::max<int64_t>(begin, 0); chunk < std::min(end, own); ++chunk)
        run(i, chunk);
      begin -= own;
      end -= own;
    }
  });
}

}  // namespace heed::kernels
