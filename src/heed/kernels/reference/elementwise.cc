#include "heed/kernels/elementwise.h"

namespace heed::kernels::reference {

void add_to(const Tensor& x, Tensor& y) {
  visit_floating(x.dtype(), [&](auto x_zero) {
    visit_floating(y.dtype(), [&](auto y_zero) {
      using X = decltype(x_zero);
      using Y = decltype(y_zero);
      for (int64_t i = 0; i < y.elements(); ++i)
        y.data<Y>()[i] = Y(static_cast<float>(y.data<Y>()[i]) + static_cast<float>(x.data<X>()[i]));
    });
  });
}

void scale(float factor, Tensor& y) {
  visit_floating(y.dtype(), [&](auto zero) {
    using Y = decltype(zero);
    for (int64_t i = 0; i < y.elements(); ++i)
      y.data<Y>()[i] = Y(static_cast<float>(y.data<Y>()[i]) * factor);
  });
}

void convert(const Tensor& x, Tensor& y) {
  visit_floating(x.dtype(), [&](auto x_zero) {
    visit_floating(y.dtype(), [&](auto y_zero) {
      using X = decltype(x_zero);
      using Y = decltype(y_zero);
      for (int64_t i = 0; i < y.elements(); ++i)
        y.data<Y>()[i] = Y(static_cast<float>(x.data<X>()[i]));
    });
  });
}

double sum_of_all_squares(std::span<const Tensor> tensors) {
  double sum = 0.0;
  for (const Tensor& x : tensors)
    for (const float value : x.values<float>()) sum += static_cast<double>(value) * value;
  return sum;
}

}  // namespace heed::kernels::reference
