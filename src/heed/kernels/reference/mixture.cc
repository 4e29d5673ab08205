#include "heed/kernels/mixture.h"

namespace heed::kernels::reference {

void combine_forward(const MixtureParts& in, Tensor& y) {
  const int64_t chosen = in.weights.cols(), cols = y.cols();
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < y.rows(); ++n)
      for (int64_t c = 0; c < cols; ++c) {
        double sum = 0.0;
        for (int64_t i = n * chosen; i < (n + 1) * chosen; ++i) {
          const size_t choice = static_cast<size_t>(i);
          const T* part = in.parts[static_cast<size_t>(in.experts[choice])].data<T>();
          sum += static_cast<double>(in.weights.data<float>()[i]) *
                 static_cast<float>(part[in.places[choice] * cols + c]);
        }
        y.data<T>()[n * cols + c] = T(static_cast<float>(sum));
      }
  });
}

void combine_backward(const MixtureParts& in, const Tensor& dy, MixtureGradients gradients) {
  const int64_t chosen = in.weights.cols(), cols = dy.cols();
  visit_floating(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < dy.rows() * chosen; ++i) {
      const size_t choice = static_cast<size_t>(i);
      const size_t expert = static_cast<size_t>(in.experts[choice]);
      const int64_t row = in.places[choice] * cols;
      double sum = 0.0;
      for (int64_t c = 0; c < cols; ++c) {
        const double d = static_cast<float>(dy.data<T>()[i / chosen * cols + c]);
        sum += d * static_cast<float>(in.parts[expert].data<T>()[row + c]);
        gradients.d_parts[expert].data<T>()[row + c] =
            T(static_cast<float>(d * in.weights.data<float>()[i]));
      }
      gradients.d_weights.data<float>()[i] = static_cast<float>(sum);
    }
  });
}

}  // namespace heed::kernels::reference
