#include "heed/kernels/relative_bias.h"

namespace heed::kernels::reference {

void relative_bias_forward(const Tensor& table, std::span<const int32_t> rows, Tensor& y) {
  for (int64_t h = 0; h < y.rows(); ++h)
    for (int64_t c = 0; c < y.cols(); ++c)
      y.data<float>()[h * y.cols() + c] =
          table.data<float>()[rows[static_cast<size_t>(c)] * table.cols() + h];
}

void relative_bias_backward(const Tensor& dy, std::span<const int32_t> rows, Tensor& d_table) {
  for (int64_t h = 0; h < dy.rows(); ++h)
    for (int64_t c = 0; c < dy.cols(); ++c)
      d_table.data<float>()[rows[static_cast<size_t>(c)] * d_table.cols() + h] +=
          dy.data<float>()[h * dy.cols() + c];
}

}  // namespace heed::kernels::reference
