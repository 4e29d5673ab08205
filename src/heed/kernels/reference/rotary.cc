#include "heed/kernels/rotary.h"

namespace heed::kernels::reference {

void rotate(const Tensor& x, const Rotation& rotation, const RotateOptions& options, Tensor& y) {
  const double direction = options.inverse ? -1.0 : 1.0;
  const int64_t half = rotation.cos.cols(), d = x.cols() / options.n_heads;
  const bool neighbours = options.layout == PairLayout::interleaved;
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < x.rows(); ++n)
      for (int64_t h = 0; h < options.n_heads; ++h) {
        const T* from = x.data<T>() + n * x.cols() + h * d;
        T* to = y.data<T>() + n * x.cols() + h * d;
        for (int64_t c = 0; c < d; ++c) to[c] = from[c];
        for (int64_t c = 0; c < half; ++c) {
          const int64_t first = options.begin + (neighbours ? 2 * c : c);
          const int64_t second = options.begin + (neighbours ? 2 * c + 1 : half + c);
          const double cos = rotation.cos.data<float>()[n * half + c];
          const double sin = direction * rotation.sin.data<float>()[n * half + c];
          const double a = static_cast<float>(to[first]), b = static_cast<float>(to[second]);
          to[first] = T(static_cast<float>(a * cos - b * sin));
          to[second] = T(static_cast<float>(b * cos + a * sin));
        }
      }
  });
}

}  // namespace heed::kernels::reference
