#include "heed/kernels/dropout.h"

#include "heed/kernels/counter_hash.h"

namespace heed::kernels::reference {

void dropout_add_forward(const Tensor& x, const Tensor& residual, Dropout dropout, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.elements(); ++i) {
      const bool keep =
          counter_hash(dropout.key, static_cast<uint64_t>(i)) >= drop_threshold(dropout.rate);
      float value = keep ? static_cast<float>(x.data<T>()[i]) / (1.0f - dropout.rate) : 0.0f;
      if (residual.defined()) value += static_cast<float>(residual.data<T>()[i]);
      y.data<T>()[i] = T(value);
    }
  });
}

}  // namespace heed::kernels::reference
