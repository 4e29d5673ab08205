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
  const Tensor numbers = Tensor::of({y.rows()}, rows);
  tape.record(y, [&tape, from = TensorKey(x), numbers](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    kernels::add_rows(dy, numbers.values<int32_t>(), dx);
  });
  return y;
}

Tensor mean_rows(Context& context, const Tensor& x, const std::vector<int32_t>& offsets) {
  require(x.dtype() == DType::f32, "mean_rows: the rows are {}, expected f32", name_of(x.dtype()));
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    require(offsets[b] >= 0 && offsets[b] < offsets[b + 1] && offsets[b + 1] <= x.rows(),
            "mean_rows: rows {} to {} of the tensor {}, expected some of its rows", offsets[b],
            offsets[b + 1], x.shape().text());
  const auto count = std::ssize(offsets) - 1, width = x.cols();
  Tensor y = Tensor::zeros({count, width});
  const auto for_rows = [width](const std::vector<int32_t>& ends, float* means, auto* rows,
                                const auto& visit) {
    for (size_t b = 0; b + 1 < ends.size(); ++b, means += width) {
      const float share = 1.0f / static_cast<float>(ends[b + 1] - ends[b]);
      for (int64_t row = ends[b]; row < ends[b + 1]; ++row)
        for (int64_t c = 0; c < width; ++c) visit(means[c], rows[row * width + c], share);
    }
  };
  for_rows(offsets, y.data<float>(), x.data<float>(),
           [](float& mean, float value, float share) { mean += share * value; });
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, from = TensorKey(x), offsets, for_rows](Tensor dy) {
    auto [dx, accumulate] = tape.slot(from);
    if (!accumulate) dx.fill_zero();
    for_rows(offsets, dy.data<float>(), dx.template data<float>(),
             [](float gradient, float& sum, float share) { sum += share * gradient; });
  });
  return y;
}

}  // namespace heed::ops
