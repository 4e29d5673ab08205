#include "heed/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::kernels::reference {
namespace {

/// cap tanh(x / cap).
double capped(double x, double cap) { return cap > 0.0 ? cap * std::tanh(x / cap) : x; }

/// Its derivative.
double cap_derivative(double x, double cap) {
  const double t = cap > 0.0 ? std::tanh(x / cap) : 0.0;
  return 1.0 - t * t;
}

/// log softmax of a row.
std::vector<double> log_probabilities(const float* x, int64_t cols, double cap) {
  std::vector<double> result(x, x + cols);
  for (double& value : result) value = capped(value, cap);
  const double largest = *std::max_element(result.begin(), result.end());
  double sum = 0.0;
  for (const double value : result) sum += std::exp(value - largest);
  for (double& value : result) value -= largest + std::log(sum);
  return result;
}

}  // namespace

void cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                   CrossEntropyOptions options, Tensor& losses, Tensor& d_logits) {
  const int64_t cols = logits.cols();
  const double s = options.label_smoothing, cap = options.soft_cap;
  for (int64_t n = 0; n < logits.rows(); ++n) {
    const int32_t target = targets[static_cast<size_t>(n)];
    const float* x = logits.data<float>() + n * cols;
    const auto log_p = log_probabilities(x, cols, cap);
    double smoothed = -(1.0 - s) * log_p[static_cast<size_t>(target)];
    if (s > 0)
      for (const double value : log_p) smoothed -= s / static_cast<double>(cols) * value;
    losses.data<float>()[2 * n] = static_cast<float>(smoothed);
    losses.data<float>()[2 * n + 1] = static_cast<float>(-log_p[static_cast<size_t>(target)]);
    if (!d_logits.defined()) continue;
    visit_floating(d_logits.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < cols; ++i) {
        const double wanted = s / static_cast<double>(cols) + (i == target ? 1.0 - s : 0.0);
        const double p = std::exp(log_p[static_cast<size_t>(i)]);
        d_logits.data<T>()[n * cols + i] = T(
            static_cast<float>((p - wanted) * options.gradient_scale * cap_derivative(x[i], cap)));
      }
    });
  }
}

}  // namespace heed::kernels::reference
