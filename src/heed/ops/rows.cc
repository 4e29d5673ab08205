#include "heed/ops/rows.h"

#include "heed/base/error.h"
#include "heed/kernels/mean_rows.h"
#include "heed/kernels/rows.h"

namespace heed::ops {

Tensor gather_rows(Context& context, const Tensor& x, std::span<const int32_t> rows) {
  for (const int32_t row : rows)
    require(row >= 0 && row < x.rows(), "gather_rows: row {} is outside the tensor {}", row,
            x.shape().text());
  Tensor y = Tensor::empty({static_cast<int64_t>(rows.size()), x.cols()}, x.dtype());
  kernels::gather_rows(x, rows, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, from = TensorKey(x),
                  numbers = std::vector(rows.begin(), rows.end())](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    kernels::add_rows(dy, numbers, dx);
  });
  return y;
}

Tensor mean_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets) {
  require(x.dtype() == DType::f32, "mean_rows: the rows are {}, expected f32", name_of(x.dtype()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    require(offsets[b] >= 0 && offsets[b] < offsets[b + 1] && offsets[b + 1] <= x.rows(),
            "mean_rows: rows {} to {} of the tensor {}, expected some of its rows", offsets[b],
            offsets[b + 1], x.shape().text());
  Tensor y = Tensor::empty({std::ssize(offsets) - 1, x.cols()});
  kernels::mean_rows(x, offsets, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, from = TensorKey(x), offsets](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    kernels::mean_rows_backward(dy, offsets, dx);
  });
  return y;
}

}  // namespace heed::ops
