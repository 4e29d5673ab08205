#pragma once

#include <algorithm>
#include <initializer_list>

#include "heed/kernels/gpu/launch.h"

// Launches of kernels that are written with code/elements.h.

namespace heed::kernels::gpu {

/// The kernel for that dtype. Throws Error for others than f32 and bf16.
inline const char* by_dtype(DType dtype, const char* f32, const char* bf16) {
  return visit_floating(dtype, [&](auto zero) { return sizeof(zero) == 4 ? f32 : bf16; });
}

/// A thread for every vector of `count` elements; `dtypes` are those of the tensors.
inline LaunchShape shape_of_elements(int64_t count, std::initializer_list<DType> dtypes) {
  constexpr unsigned kThreads = 256;
  int64_t widest = 1;
  for (const DType dtype : dtypes) widest = std::max(widest, size_of(dtype));
  return {.x = blocks_for(count, kThreads * (16 / widest)), .threads = kThreads};
}

/// A thread for every vector of `width` columns of each row: x counts rows, y blocks of columns.
inline LaunchShape shape_of_row_columns(int64_t rows, int64_t columns, int64_t width) {
  constexpr int64_t kMostThreads = 256;
  const int64_t vectors = (columns + width - 1) / width;
  const int64_t threads = std::min((vectors + 31) / 32 * 32, kMostThreads);
  return {.x = static_cast<unsigned>(rows),
          .y = blocks_for(vectors, threads),
          .threads = static_cast<unsigned>(threads)};
}

}  // namespace heed::kernels::gpu
