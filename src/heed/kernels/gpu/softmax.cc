#include "heed/kernels/softmax.h"

#include "heed/kernels/gpu/code/softmax.h"
#include "heed/kernels/gpu/launch_rows.h"

namespace heed::kernels::gpu {

void softmax_forward(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  const RowShape shape = shape_of_row(x.cols(), 16 / size_of(x.dtype()));
  launch(by_dtype(x.dtype(), "softmax_f32", "softmax_bf16"), launch_shape(shape, x.rows()),
         SoftmaxArguments{memory(x), memory(y), x.rows(), static_cast<int>(x.cols()), shape});
}

void log_softmax(const Tensor& x, Tensor& y) {
  if (x.elements() == 0) return;
  const int64_t parts = blocks_for(x.cols(), kExpSumColumns);
  const RowShape shape = shape_of_row(std::min<int64_t>(x.cols(), kExpSumColumns), 4);
  const Tensor sums = parts > 1 ? Tensor::empty({x.rows(), parts, 2}) : Tensor();
  const LogSoftmaxArguments arguments{elements<float>(x),
                                      elements<float>(y),
                                      reinterpret_cast<ExpSumOfPart*>(memory(sums)),
                                      x.rows(),
                                      static_cast<int>(x.cols()),
                                      static_cast<int>(parts),
                                      shape};
  launch("log_softmax_sums", launch_shape(shape, x.rows() * parts), arguments);
  if (parts > 1) launch("log_softmax_finish", launch_shape(shape, x.rows() * parts), arguments);
}

}  // namespace heed::kernels::gpu
