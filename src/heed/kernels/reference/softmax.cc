#include "heed/kernels/softmax.h"

#include <cmath>
#include <limits>

namespace heed::kernels::reference {
namespace {

template <typename T>
double at(const T* row, int64_t i) {
  return static_cast<float>(row[i]);
}

/// exp(x - shift) sums to `sum`: shift is the maximum, or 0 for a row of minus infinities.
struct ExpSum {
  double shift = 0.0, sum = 0.0;
};

template <typename T>
ExpSum exp_sum(const T* x, int64_t cols) {
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < cols; ++i)
    if (at(x, i) > largest) largest = at(x, i);
  ExpSum row{std::isinf(largest) && largest < 0 ? 0.0 : largest, 0.0};
  for (int64_t i = 0; i < cols; ++i) row.sum += std::exp(at(x, i) - row.shift);
  return row;
}

}  // namespace

void softmax_forward(const Tensor& x, Tensor& y) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < x.rows(); ++n) {
      const T* from = x.data<T>() + n * x.cols();
      T* to = y.data<T>() + n * x.cols();
      const ExpSum row = exp_sum(from, x.cols());
      for (int64_t i = 0; i < x.cols(); ++i) {
        const double value = row.sum == 0.0 ? 0.0 : std::exp(at(from, i) - row.shift) / row.sum;
        to[i] = T(static_cast<float>(value));
      }
    }
  });
}

void softmax_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  visit_floating(y.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < y.rows(); ++n) {
      const T* weights = y.data<T>() + n * y.cols();
      const T* from = dy.data<T>() + n * y.cols();
      T* to = dx.data<T>() + n * y.cols();
      double dot = 0.0;
      for (int64_t i = 0; i < y.cols(); ++i) dot += at(weights, i) * at(from, i);
      for (int64_t i = 0; i < y.cols(); ++i)
        to[i] = T(static_cast<float>(at(weights, i) * (at(from, i) - dot)));
    }
  });
}

void log_softmax(const Tensor& x, Tensor& y) {
  for (int64_t n = 0; n < x.rows(); ++n) {
    const float* from = x.data<float>() + n * x.cols();
    float* to = y.data<float>() + n * x.cols();
    const ExpSum row = exp_sum(from, x.cols());
    const double log = row.sum == 0.0 ? 0.0 : std::log(row.sum);
    for (int64_t i = 0; i < x.cols(); ++i)
      to[i] = static_cast<float>(at(from, i) - row.shift - log);
  }
}

void log_sum_exp(const Tensor& x, Tensor& y) {
  for (int64_t n = 0; n < x.rows(); ++n) {
    const ExpSum row = exp_sum(x.data<float>() + n * x.cols(), x.cols());
    const double log = row.sum == 0.0 ? 0.0 : std::log(row.sum);
    float* to = y.data<float>() + 2 * n;
    to[0] = static_cast<float>(std::isnan(log) ? log : row.shift);
    to[1] = static_cast<float>(log);
  }
}

}  // namespace heed::kernels::reference
