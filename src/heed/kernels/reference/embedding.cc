#include "heed/kernels/embedding.h"

namespace heed::kernels::reference {

void embedding_forward(const EmbeddingForward& in, Tensor& y) {
  const int64_t cols = y.cols();
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < y.rows(); ++n) {
      const size_t row = static_cast<size_t>(n);
      for (int64_t c = 0; c < cols; ++c) {
        const T word = in.table.data<T>()[in.tokens[row] * cols + c];
        double value = static_cast<double>(in.scale) * static_cast<float>(word);
        if (in.position_table.defined())
          value += in.position_table.data<float>()[in.positions[row] * cols + c];
        y.data<T>()[n * cols + c] = T(static_cast<float>(value));
      }
    }
  });
}

void embedding_backward(std::span<const int32_t> tokens, const Tensor& dy, float scale,
                        Tensor& d_table) {
  const int64_t cols = dy.cols();
  visit_floating(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < dy.rows(); ++n) {
      float* to = d_table.data<float>() + tokens[static_cast<size_t>(n)] * cols;
      for (int64_t c = 0; c < cols; ++c)
        to[c] += scale * static_cast<float>(dy.data<T>()[n * cols + c]);
    }
  });
}

}  // namespace heed::kernels::reference
