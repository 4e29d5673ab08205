#pragma once

#include "heed/kernels/gpu/code/reductions/row_shape.h"

// The arguments of the kernels in softmax.cu.
namespace heed::kernels::gpu {

/// x and y [rows, columns] of f32 or bf16.
struct SoftmaxArguments {
  const void* x;
  void* y;
  long long rows;
  int columns;
  RowShape shape;
};

/// The largest element, and the sum of exponentials relative to it; minus infinity and 0 for
/// elements of minus infinity alone.
struct ExpSumOfPart {
  float largest, sum;
};

/// Columns of a part of a row of log_softmax.
constexpr int kExpSumColumns = 4096;

/// x [rows, columns]; a row has `parts` parts of kExpSumColumns columns, and `sums` each part's. y
/// is that of log_softmax or of log_sum_exp. With one part it is written at once, and `sums` is
/// null.
struct LogSoftmaxArguments {
  const float* x;
  float* y;
  ExpSumOfPart* sums;
  long long rows;
  int columns, parts;
  RowShape shape;  // of a part
};

}  // namespace heed::kernels::gpu
