#pragma once

#include <algorithm>
#include <cstdint>

namespace heed::kernels {

/// Elements of a piece of work for parallel_for: about 20 microseconds, so that waking a thread
/// pays. Light work is a few operations an element; heavy work computes exponentials.
inline constexpr int64_t kLightPiece = int64_t{1} << 16;
inline constexpr int64_t kHeavyPiece = int64_t{1} << 15;

/// The same in rows of `cols` elements.
inline int64_t piece_rows(int64_t piece, int64_t cols) {
  return std::max<int64_t>(1, piece / std::max<int64_t>(1, cols));
}

}  // namespace heed::kernels
