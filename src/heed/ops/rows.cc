#include "heed/ops/rows.h"

#include "heed/base/error.h"
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

}  // namespace heed::ops
