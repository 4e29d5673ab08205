#pragma once

#include <algorithm>

#include "heed/kernels/gpu/code/reductions/row_shape.h"
#include "heed/kernels/gpu/launch_elements.h"

// Launches of kernels that are written with code/row_parts.h.

namespace heed::kernels::gpu {

/// The threads of rows of `columns` elements, `width` of which are a vector. A few rows are to be
/// read by many threads at once.
inline RowShape shape_of_row(int64_t columns, int64_t width) {
  constexpr int64_t kMost = 1024;
  const int64_t vectors = std::max<int64_t>(1, (columns + width - 1) / width);
  const int64_t held = vectors <= kMost / 2 ? 1 : vectors <= 2 * kMost ? 2 : 0;
  const int64_t threads = held ? ((vectors + held - 1) / held + 31) / 32 * 32 : kMost;
  return {static_cast<int>(threads), threads == 32 ? 8 : 1, static_cast<int>(held)};
}

inline LaunchShape launch_shape(const RowShape& shape, int64_t rows) {
  return {.x = blocks_for(rows, shape.rows_of_block),
          .threads = static_cast<unsigned>(shape.threads * shape.rows_of_block),
          .shared_bytes = static_cast<size_t>(shape.threads / 32) * sizeof(double)};
}

}  // namespace heed::kernels::gpu
