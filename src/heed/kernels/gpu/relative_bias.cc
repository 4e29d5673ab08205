#include "heed/kernels/relative_bias.h"

#include "heed/kernels/gpu/code/rows/relative_bias.h"
#include "heed/kernels/gpu/launch_elements.h"

namespace heed::kernels::gpu {

void relative_bias_forward(const Tensor& table, std::span<const int32_t> rows, Tensor& y) {
  if (y.elements() == 0) return;
  const Uploaded<int32_t> uploaded(rows);
  launch("relative_bias_f32", shape_of_row_columns(y.rows(), y.cols(), 1),
         RelativeBiasArguments{elements<float>(table), uploaded.data(), elements<float>(y),
                               static_cast<int>(y.cols()), static_cast<int>(y.rows())});
}

void relative_bias_backward(const Tensor& dy, std::span<const int32_t> rows, Tensor& d_table) {
  if (dy.elements() == 0) return;
  const Uploaded<int32_t> uploaded(rows);
  launch(
      "relative_bias_backward_f32", shape_of_row_columns(dy.rows(), d_table.rows(), 1),
      RelativeBiasBackwardArguments{elements<float>(dy), uploaded.data(), elements<float>(d_table),
                                    static_cast<int>(dy.cols()), static_cast<int>(dy.rows()),
                                    static_cast<int>(d_table.rows())});
}

}  // namespace heed::kernels::gpu
