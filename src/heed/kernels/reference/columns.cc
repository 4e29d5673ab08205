#include "heed/kernels/columns.h"

namespace heed::kernels::reference {
namespace {

template <typename T>
double at(const Tensor& x, int64_t n, HeadColumns columns, int64_t h, int64_t c) {
  return static_cast<float>(x.data<T>()[n * x.cols() + columns.begin + h * columns.stride + c]);
}

template <typename T>
void put(Tensor& x, int64_t n, HeadColumns columns, int64_t h, int64_t c, double value) {
  x.data<T>()[n * x.cols() + columns.begin + h * columns.stride + c] = T(static_cast<float>(value));
}

}  // namespace

void copy_columns(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < x.rows(); ++n)
      for (int64_t h = 0; h < options.n_heads; ++h)
        for (int64_t c = 0; c < options.width; ++c) {
          double value = at<T>(x, n, options.from, h, c);
          if (options.accumulate) value += at<T>(y, n, options.to, h, c);
          put<T>(y, n, options.to, h, c, value);
        }
  });
}

void sum_heads(const Tensor& x, const ColumnsOptions& options, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < x.rows(); ++n)
      for (int64_t c = 0; c < options.width; ++c) {
        double sum = options.accumulate ? at<T>(y, n, options.to, 0, c) : 0.0;
        for (int64_t h = 0; h < options.n_heads; ++h) sum += at<T>(x, n, options.from, h, c);
        put<T>(y, n, options.to, 0, c, sum);
      }
  });
}

}  // namespace heed::kernels::reference
