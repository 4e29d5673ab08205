#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "heed/base/parallel.h"

namespace heed::kernels {

/// Elements of a piece of work for parallel_for: about 20 microseconds, so that waking a thread
/// pays. Light work is a few operations an element; heavy work computes exponentials.
inline constexpr int64_t kLightPiece = int64_t{1} << 16;
inline constexpr int64_t kHeavyPiece = int64_t{1} << 15;

/// The same in rows of `cols` elements.
inline int64_t piece_rows(int64_t piece, int64_t cols) {
  return std::max<int64_t>(1, piece / std::max<int64_t>(1, cols));
}

/// Calls run(i, piece) for the pieces(i) pieces of each of `count` works, on all threads, which
/// meet once.
template <typename Pieces, typename Run>
void parallel_over(size_t count, const Pieces& pieces, const Run& run) {
  int64_t all = 0;
  for (size_t i = 0; i < count; ++i) all += pieces(i);
  parallel_for(all, 1, [&](int64_t begin, int64_t end) {
    for (size_t i = 0; i < count; ++i) {
      const int64_t own = pieces(i);
      for (int64_t piece = std::max<int64_t>(begin, 0); piece < std::min(end, own); ++piece)
        run(i, piece);
      begin -= own;
      end -= own;
    }
  });
}

}  // namespace heed::kernels
