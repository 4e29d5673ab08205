#include "heed/kernels/pool_rows.h"

namespace heed::kernels::reference {
namespace {

/// Calls visit(b, n) for every row n of every group b, in their order.
template <typename Visit>
void visit_rows_of_groups(std::span<const int32_t> offsets, const Visit& visit) {
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    for (int32_t n = offsets[b]; n < offsets[b + 1]; ++n) visit(static_cast<int64_t>(b), n);
}

}  // namespace

void sum_rows(const Tensor& x, std::span<const int32_t> offsets, std::span<const float> weights,
              Tensor& y) {
  y.fill_zero();
  visit_rows_of_groups(offsets, [&](int64_t b, int64_t n) {
    for (int64_t c = 0; c < x.cols(); ++c)
      y.data<float>()[b * x.cols() + c] +=
          weights[static_cast<size_t>(n)] * x.data<float>()[n * x.cols() + c];
  });
}

void sum_rows_backward(const Tensor& dy, std::span<const int32_t> offsets,
                       std::span<const float> weights, Tensor& dx) {
  visit_rows_of_groups(offsets, [&](int64_t b, int64_t n) {
    for (int64_t c = 0; c < dy.cols(); ++c)
      dx.data<float>()[n * dy.cols() + c] +=
          weights[static_cast<size_t>(n)] * dy.data<float>()[b * dy.cols() + c];
  });
}

void max_rows(const Tensor& x, std::span<const int32_t> offsets, Tensor& y) {
  visit_rows_of_groups(offsets, [&](int64_t b, int64_t n) {
    for (int64_t c = 0; c < x.cols(); ++c) {
      float& largest = y.data<float>()[b * x.cols() + c];
      const float value = x.data<float>()[n * x.cols() + c];
      if (n == offsets[static_cast<size_t>(b)] || value > largest) largest = value;
    }
  });
}

void max_rows_backward(const Tensor& x, const Tensor& y, const Tensor& dy,
                       std::span<const int32_t> offsets, Tensor& dx) {
  for (int64_t b = 0; b < y.rows(); ++b)
    for (int64_t c = 0; c < y.cols(); ++c)
      for (int64_t n = offsets[static_cast<size_t>(b)]; n < offsets[static_cast<size_t>(b) + 1];
           ++n)
        if (x.data<float>()[n * y.cols() + c] == y.data<float>()[b * y.cols() + c]) {
          dx.data<float>()[n * y.cols() + c] += dy.data<float>()[b * y.cols() + c];
          break;
        }
}

}  // namespace heed::kernels::reference
