#include "heed/kernels/rows.h"

namespace heed::kernels::reference {

void gather_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = y.data<T>();
    for (const int32_t row : rows)
      for (int64_t c = 0; c < x.cols(); ++c) *to++ = x.data<T>()[row * x.cols() + c];
  });
}

void add_rows(const Tensor& x, std::span<const int32_t> rows, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = x.data<T>();
    for (const int32_t row : rows)
      for (int64_t c = 0; c < x.cols(); ++c) {
        T& to = y.data<T>()[row * x.cols() + c];
        to = T(static_cast<float>(to) + static_cast<float>(*from++));
      }
  });
}

}  // namespace heed::kernels::reference
