#include "heed/ops/pool_rows.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/kernels/pool_rows.h"

namespace heed::ops {
namespace {

void check_groups(const char* op, const Tensor& x, const std::vector<int32_t>& offsets) {
  require(x.dtype() == DType::f32, "{}: the rows are {}, expected f32", op, name_of(x.dtype()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    require(offsets[b] >= 0 && offsets[b] < offsets[b + 1] && offsets[b + 1] <= x.rows(),
            "{}: rows {} to {} of the tensor {}, expected some of its rows", op, offsets[b],
            offsets[b + 1], x.shape().text());
}

}  // namespace

Tensor sum_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets,
                const std::vector<float>& weights) {
  check_groups("sum_rows", x, offsets);
  require(std::ssize(weights) == x.rows(), "sum_rows: {} weights of the rows of {}", weights.size(),
          x.shape().text());
  Tensor y = Tensor::empty({std::ssize(offsets) - 1, x.cols()});
  kernels::sum_rows(x, offsets, weights, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, from = TensorKey(x), offsets, weights](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    kernels::sum_rows_backward(dy, offsets, weights, dx);
  });
  return y;
}

Tensor mean_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets) {
  check_groups("mean_rows", x, offsets);
  std::vector<float> weights(static_cast<size_t>(x.rows()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    std::fill(weights.begin() + offsets[b], weights.begin() + offsets[b + 1],
              1.0f / static_cast<float>(offsets[b + 1] - offsets[b]));
  return sum_rows(context, x, offsets, weights);
}

Tensor max_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets) {
  check_groups("max_rows", x, offsets);
  Tensor y = Tensor::empty({std::ssize(offsets) - 1, x.cols()});
  kernels::max_rows(x, offsets, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, x, y, from = TensorKey(x), offsets](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    kernels::max_rows_backward(x, y, dy, offsets, dx);
  });
  return y;
}

}  // namespace heed::ops
