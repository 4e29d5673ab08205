#pragma once

#include "heed/kernels/gpu/code/block_sum.h"
#include "heed/kernels/gpu/code/reductions/row_shape.h"
#include "heed/kernels/gpu/code/vectors.h"

// Kernels that reduce rows. The threads of a row share its columns in a way that the number of
// columns alone decides, wherever the row is, and so do the sums.

namespace heed::kernels::gpu {

/// The threads of a row, and this one among them.
struct RowThreads {
  int64_t row;
  unsigned thread, threads;
  bool whole_block;

  HEED_DEVICE explicit RowThreads(const RowShape& shape)
      : threads(static_cast<unsigned>(shape.threads)), whole_block(shape.rows_of_block == 1) {
    using namespace heed::gpu;
    thread = whole_block ? thread_index() : thread_index() % 32;
    row = int64_t{block_x()} * shape.rows_of_block + (whole_block ? 0 : thread_index() / 32);
  }

  /// The value of all threads of the row, in every thread.
  template <typename Operation>
  HEED_DEVICE float reduce(float value) const {
    return whole_block ? reduce_block<Operation>(value, heed::gpu::shared_memory<float>())
                       : reduce_warp<Operation>(value);
  }
};

/// body(slot, column) for each vector of `width` columns, from that column on, that the thread has.
/// held: vectors of a thread at most, which it can hold in registers; 0: any number, all in slot 0.
template <int held, int width, typename Body>
HEED_DEVICE void over_row(const RowThreads& at, int columns, const Body& body) {
  const int step = static_cast<int>(at.threads) * width;
  const int first = static_cast<int>(at.thread) * width;
  if constexpr (held > 0) {
    HEED_UNROLL
    for (int slot = 0; slot < held; ++slot)
      if (first + slot * step < columns) body(slot, first + slot * step);
  } else {
    for (int column = first; column < columns; column += step) body(0, column);
  }
}

/// What a thread has of a row: read once, if it holds it, or whenever it is needed.
template <typename T, int held, int width = kVector<T>>
class RowPart {
 public:
  static constexpr int kHeld = held;

  /// Elements beyond the end of the row are `absent`.
  HEED_DEVICE RowPart(const T* row, int columns, const RowThreads& at, float absent)
      : row_(row), columns_(columns), absent_(absent) {
    if constexpr (held > 0)
      over_row<held, width>(at, columns, [&](int slot, int column) {
        load_vector(row + column, columns - column, absent, values_[slot]);
      });
  }

  HEED_DEVICE void get(int slot, int column, float (&values)[width]) const {
    if constexpr (held > 0) {
      HEED_UNROLL
      for (int i = 0; i < width; ++i) values[i] = values_[slot][i];
    } else {
      load_vector(row_ + column, columns_ - column, absent_, values);
    }
  }

 private:
  const T* row_;
  int columns_;
  float absent_;
  float values_[held > 0 ? held : 1][width];
};

/// run(Held<n>()) for the vectors that a thread holds, n of 1, 2 and 0.
template <int held>
struct Held {
  static constexpr int kVectors = held;
};
template <typename Run>
HEED_DEVICE void with_held(const RowShape& shape, const Run& run) {
  if (shape.held == 1)
    run(Held<1>());
  else if (shape.held == 2)
    run(Held<2>());
  else
    run(Held<0>());
}

}  // namespace heed::kernels::gpu
