#include "heed/kernels/sigmoid.h"

#include <cmath>

namespace heed::kernels::reference {

void sigmoid(const Tensor& x, Tensor& y) {
  for (int64_t i = 0; i < x.elements(); ++i)
    y.data<float>()[i] = 1.0f / (1.0f + std::exp(-x.data<float>()[i]));
}

void sigmoid_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  for (int64_t i = 0; i < y.elements(); ++i) {
    const float p = y.data<float>()[i];
    dx.data<float>()[i] = dy.data<float>()[i] * p * (1.0f - p);
  }
}

}  // namespace heed::kernels::reference
