#include "heed/kernels/softmax.h"

#include "heed/kernels/gpu/code/reductions/softmax.h"
#include "heed/kernels/gpu/launch_rows.h"

namespace heed::kernels::gpu {
namespace {

/// Launches the kernels of log_softmax or log_sum_exp: `sums`, and `finish` if rows have several
/// parts.
void launch_log_softmax(const char* sums, const char* finish, const Tensor& x, Tensor& y,
                        bool finishes_rows) {
  const int64_t parts = blocks_for(x.cols(), kExpSumColumns);
  const RowShape shape = shape_of_row(std::min<int64_t>(x.cols(), kExpSumColumns), 4);
  const Tensor sums_of_parts = parts > 1 ? Tensor::empty({x.rows(), parts, 2}) : Tensor();
  const LogSoftmaxArguments arguments{
      .x = elements<float>(x),
      .y = elements<float>(y),
      .sums = reinterpret_cast<ExpSumOfPart*>(memory(sums_of_parts)),
      .rows = x.rows(),
      .columns = static_cast<int>(x.cols()),
      .parts = static_cast<int>(parts),
      .shape = shape};
  const LaunchShape of_parts = launch_shape(shape, x.rows() * parts);
  launch(sums, of_parts, arguments);
  if (parts == 1) return;
  const LaunchShape of_rows{.x = static_cast<unsigned>(x.rows()), .threads = 32};
  launch(finish, finishes_rows ? of_rows : of_parts, arguments);
}

}  // namespace

void softmax_forward(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  const RowShape shape = shape_of_row(x.cols(), 16 / size_of(x.dtype()));
  launch(by_dtype(x.dtype(), "softmax_f32", "softmax_bf16"), launch_shape(shape, x.rows()),
         SoftmaxArguments{memory(x), memory(y), x.rows(), static_cast<int>(x.cols()), shape});
}

void log_softmax(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  launch_log_softmax("log_softmax_sums", "log_softmax_finish", x, y, false);
}

void log_sum_exp(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  launch_log_softmax("log_sum_exp_sums", "log_sum_exp_finish", x, y, true);
}

}  // namespace heed::kernels::gpu
