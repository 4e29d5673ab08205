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
  tape.record(
      [&tape, from = TensorKey(x), key = TensorKey(y), numbers = Tensor::of({y.rows()}, rows)] {
        const Tensor dy = tape.take(key);
        if (!dy.defined()) return;
        auto [dx, accumulate] = tape.slot(from);
        if (!accumulate) dx.fill_zero();
        kernels::add_rows(dy, numbers.values<int32_t>(), dx);
      });
  return y;
}

}  // namespace heed::ops
