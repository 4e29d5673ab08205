#pragma once

#include <algorithm>
#include <cstdint>

namespace heed::kernels {

/// a / b, rounded up; and the next multiple of b. Neither is negative.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

/// Elements of a piece of work for parallel_for: about 20 microseconds, so that waking a thread
/// pays. Light work is a few operations an element; heavy work computes exponentials.
inline constexpr int64_t kLightPiece = int64_t{1} << 16;
inline constexpr int64_t kHeavyPiece = int64_t{1} << 15;

/// The same in rows of `cols` elements.
inline int64_t piece_rows(int64_t piece, int64_t cols) {
  return std::max<int64_t>(1, piece / std::max<int64_t>(1, cols));
}

}  // namespace heed::kernels
