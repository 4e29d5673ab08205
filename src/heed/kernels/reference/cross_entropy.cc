#include "heed/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::kernels::reference {
namespace {

/// log softmax of a row.
std::vector<double> log_probabilities(const float* x, int64_t cols) {
  const double largest = *std::max_element(x, x + cols);
  double sum = 0.0;
  for (int64_t i = 0; i < cols; ++i) sum += std::exp(x[i] - largest);
  std::vector<double> result(x, x + cols);
  for (double& value : result) value -= largest + std::log(sum);
  return result;
}

}  // namespace

void cross_entropy(const Tensor& logits, std::span<const int32_t> targets,
                   CrossEntropyOptions options, Tensor& losses, Tensor& d_logits) {
  const int64_t cols = logits.cols();
  const double s = options.label_smoothing;
  for (int64_t n = 0; n < logits.rows(); ++n) {
    const int32_t target = targets[static_cast<size_t>(n)];
    const auto log_p = log_probabilities(logits.data<float>() + n * cols, cols);
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
        d_logits.data<T>()[n * cols + i] =
            T(static_cast<float>((p - wanted) * options.gradient_scale));
      }
    });
  }
}

}  // namespace heed::kernels::reference
