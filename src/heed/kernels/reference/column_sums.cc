#include "heed/kernels/column_sums.h"

namespace heed::kernels::reference {

void column_sums(const Tensor& x, Tensor& sums) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t d = 0; d < x.cols(); ++d) {
      double sum = sums.data<float>()[d];
      for (int64_t n = 0; n < x.rows(); ++n)
        sum += static_cast<double>(static_cast<float>(x.data<T>()[n * x.cols() + d]));
      sums.data<float>()[d] = static_cast<float>(sum);
    }
  });
}

}  // namespace heed::kernels::reference
