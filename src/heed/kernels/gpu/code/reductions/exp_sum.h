#pragma once

#include "heed/kernels/gpu/code/reductions/row_parts.h"
#include "heed/kernels/gpu/code/reductions/softmax.h"

// Sums of exponentials over a row, or a part of it.

namespace heed::kernels::gpu {

/// What exponentials are relative to: the largest element, or 0 if all are minus infinity.
HEED_DEVICE float shift_of(float largest) { return largest == -INFINITY ? 0.0f : largest; }
/// 0 for an empty sum.
HEED_DEVICE float log_of(float sum) { return sum == 0.0f ? 0.0f : logf(sum); }

/// Of a row part whose absent elements are minus infinity. `exponentials` gets the terms.
template <typename T, int held, int slots, int n>
HEED_DEVICE ExpSumOfPart exp_sum_of(const RowPart<T, held>& part, int columns, const RowThreads& at,
                                    float (&exponentials)[slots][n]) {
  float largest = -INFINITY;
  over_row<held, n>(at, columns, [&](int slot, int column) {
    float values[n];
    part.get(slot, column, values);
    HEED_UNROLL
    for (int i = 0; i < n; ++i) largest = Max::apply(values[i], largest);
  });
  largest = at.reduce<Max>(largest);
  const float shift = shift_of(largest);
  float sum = 0.0f;
  over_row<held, n>(at, columns, [&](int slot, int column) {
    part.get(slot, column, exponentials[slot]);
    HEED_UNROLL
    for (int i = 0; i < n; ++i) {
      exponentials[slot][i] = expf(exponentials[slot][i] - shift);
      sum += exponentials[slot][i];
    }
  });
  return {largest, at.reduce<Sum>(sum)};
}
template <typename T, int held>
HEED_DEVICE ExpSumOfPart exp_sum_of(const RowPart<T, held>& part, int columns,
                                    const RowThreads& at) {
  float exponentials[held > 0 ? held : 1][kVector<T>];
  return exp_sum_of(part, columns, at, exponentials);
}

/// Of all parts, in an order that their number decides. Every warp computes it.
HEED_DEVICE ExpSumOfPart sum_of_parts(const ExpSumOfPart* parts, int count) {
  const int lane = static_cast<int>(heed::gpu::thread_index() % 32);
  float largest = -INFINITY, sum = 0.0f;
  for (int i = lane; i < count; i += 32) largest = Max::apply(parts[i].largest, largest);
  largest = reduce_warp<Max>(largest);
  const float shift = shift_of(largest);
  for (int i = lane; i < count; i += 32) sum += parts[i].sum * expf(parts[i].largest - shift);
  return {largest, reduce_warp<Sum>(sum)};
}

/// Where a part of kExpSumColumns columns is.
struct PlaceOfPart {
  long long row, first;  // its first element among all of the tensor
  int columns;

  /// The part `number` of all rows.
  HEED_DEVICE PlaceOfPart(int64_t number, int columns_of_row, int parts) {
    row = number / parts;
    const int begin = static_cast<int>(number % parts) * kExpSumColumns;
    first = row * columns_of_row + begin;
    columns = columns_of_row - begin < kExpSumColumns ? columns_of_row - begin : kExpSumColumns;
  }
};

}  // namespace heed::kernels::gpu
