#include "heed/kernels/mean_rows.h"

namespace heed::kernels::reference {

void mean_rows(const Tensor& x, std::span<const int32_t> offsets, Tensor& y) {
  y.fill_zero();
  for (int64_t b = 0; b < y.rows(); ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)],
                  end = offsets[static_cast<size_t>(b) + 1];
    for (int64_t n = begin; n < end; ++n)
      for (int64_t c = 0; c < x.cols(); ++c)
        y.data<float>()[b * x.cols() + c] +=
            1.0f / static_cast<float>(end - begin) * x.data<float>()[n * x.cols() + c];
  }
}

void mean_rows_backward(const Tensor& dy, std::span<const int32_t> offsets, Tensor& dx) {
  for (int64_t b = 0; b < dy.rows(); ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)],
                  end = offsets[static_cast<size_t>(b) + 1];
    for (int64_t n = begin; n < end; ++n)
      for (int64_t c = 0; c < dy.cols(); ++c)
        dx.data<float>()[n * dy.cols() + c] +=
            1.0f / static_cast<float>(end - begin) * dy.data<float>()[b * dy.cols() + c];
  }
}

}  // namespace heed::kernels::reference
