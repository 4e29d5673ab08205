#include "heed/kernels/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace heed::kernels::reference {

void top_k(const Tensor& x, int64_t k, Tensor& values, Tensor& indices) {
  for (int64_t n = 0; n < x.rows(); ++n) {
    const float* const row = x.data<float>() + n * x.cols();
    std::vector<int32_t> order(static_cast<size_t>(x.cols()));
    std::iota(order.begin(), order.end(), 0);
    const bool number =
        std::none_of(row, row + x.cols(), [](float value) { return std::isnan(value); });
    if (number)
      std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return row[a] > row[b]; });
    for (int64_t i = 0; i < k; ++i) {
      const bool found = number && i < x.cols();
      const float none = number ? -std::numeric_limits<float>::infinity()
                                : std::numeric_limits<float>::quiet_NaN();
      const int32_t index = found ? order[static_cast<size_t>(i)] : -1;
      values.data<float>()[n * k + i] = found ? row[index] : none;
      indices.data<int32_t>()[n * k + i] = index;
    }
  }
}

}  // namespace heed::kernels::reference
