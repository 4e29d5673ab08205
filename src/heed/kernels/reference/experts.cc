#include "heed/kernels/experts.h"

namespace heed::kernels::reference {

void combine_experts_forward(const ExpertOutputs& in, Tensor& y) {
  const int64_t top_k = in.weights.cols(), cols = y.cols();
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < y.rows(); ++n)
      for (int64_t c = 0; c < cols; ++c) {
        double sum = 0.0;
        for (auto i = static_cast<size_t>(n * top_k); i < static_cast<size_t>((n + 1) * top_k);
             ++i) {
          const T* output = in.outputs[static_cast<size_t>(in.experts[i])].data<T>();
          sum += static_cast<double>(in.weights.data<float>()[i]) *
                 static_cast<float>(output[in.rows[i] * cols + c]);
        }
        y.data<T>()[n * cols + c] = T(static_cast<float>(sum));
      }
  });
}

void combine_experts_backward(const ExpertOutputs& in, const Tensor& dy,
                              ExpertGradients gradients) {
  const auto top_k = static_cast<size_t>(in.weights.cols());
  const int64_t cols = dy.cols();
  visit_floating(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < in.experts.size(); ++i) {
      const auto expert = static_cast<size_t>(in.experts[i]);
      const T* from = dy.data<T>() + static_cast<int64_t>(i / top_k) * cols;
      const T* output = in.outputs[expert].data<T>() + in.rows[i] * cols;
      T* d_output = gradients.d_outputs[expert].data<T>() + in.rows[i] * cols;
      double sum = 0.0;
      for (int64_t c = 0; c < cols; ++c) {
        const double d = static_cast<float>(from[c]);
        sum += d * static_cast<float>(output[c]);
        d_output[c] = T(static_cast<float>(d * in.weights.data<float>()[i]));
      }
      gradients.d_weights.data<float>()[i] = static_cast<float>(sum);
    }
  });
}

}  // namespace heed::kernels::reference
