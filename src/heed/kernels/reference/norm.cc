#include "heed/kernels/norm.h"

#include <cmath>
#include <vector>

namespace heed::kernels::reference {
namespace {

template <typename T>
std::vector<double> row_of(const Tensor& x, int64_t n) {
  std::vector<double> row(static_cast<size_t>(x.cols()));
  for (int64_t i = 0; i < x.cols(); ++i)
    row[static_cast<size_t>(i)] = static_cast<float>(x.data<T>()[n * x.cols() + i]);
  return row;
}

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double mean_square(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return sum / static_cast<double>(values.size());
}

/// Without a bias (RMSNorm) rows are not centred and have no mean among their statistics.
void norm_forward(const Tensor& x, const Tensor& weight, const float* bias, float epsilon,
                  Tensor& y, Tensor& stats) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < x.rows(); ++n) {
      std::vector<double> row = row_of<T>(x, n);
      const double centre = bias ? mean(row) : 0.0;
      for (double& value : row) value -= centre;
      const double inverse = 1.0 / std::sqrt(mean_square(row) + epsilon);
      float* const row_stats = stats.data<float>() + n * stats.cols();
      if (bias) row_stats[0] = static_cast<float>(centre);
      row_stats[stats.cols() - 1] = static_cast<float>(inverse);
      T* const to = y.data<T>() + n * y.cols();
      for (size_t i = 0; i < row.size(); ++i) {
        const double scaled = row[i] * inverse * weight.data<float>()[i];
        to[i] = T(static_cast<float>(bias ? scaled + bias[i] : scaled));
      }
    }
  });
}

/// With h = (x - mean) * inverse and g = dy * weight (Ba et al. 2016):
/// dx = inverse * (g - mean(g) - h * mean(g * h)); without d_bias (RMSNorm) there are no means of x
/// and g.
void norm_backward(const Tensor& x, const Tensor& weight, const Tensor& stats, const Tensor& dy,
                   Tensor& dx, float* d_weight, float* d_bias) {
  visit_floating(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < x.rows(); ++n) {
      const float* const row_stats = stats.data<float>() + n * stats.cols();
      const double centre = d_bias ? row_stats[0] : 0.0, inverse = row_stats[stats.cols() - 1];
      std::vector<double> h = row_of<T>(x, n), g = row_of<T>(dy, n), gh = g;
      for (size_t i = 0; i < g.size(); ++i) {
        h[i] = (h[i] - centre) * inverse;
        d_weight[i] += static_cast<float>(g[i] * h[i]);
        if (d_bias) d_bias[i] += static_cast<float>(g[i]);
        g[i] *= weight.data<float>()[i];
        gh[i] = g[i] * h[i];
      }
      const double mean_g = d_bias ? mean(g) : 0.0, mean_gh = mean(gh);
      T* const to = dx.data<T>() + n * dx.cols();
      for (size_t i = 0; i < g.size(); ++i)
        to[i] = T(static_cast<float>(inverse * (g[i] - mean_g - h[i] * mean_gh)));
    }
  });
}

}  // namespace

void layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats) {
  norm_forward(in.x, in.weight, in.bias.data<float>(), in.epsilon, y, stats);
}

void layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                         LayerNormGradients gradients) {
  norm_backward(in.x, in.weight, stats, dy, gradients.dx, gradients.d_weight.data<float>(),
                gradients.d_bias.data<float>());
}

void rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats) {
  norm_forward(in.x, in.weight, nullptr, in.epsilon, y, stats);
}

void rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                       RmsNormGradients gradients) {
  norm_backward(in.x, in.weight, stats, dy, gradients.dx, gradients.d_weight.data<float>(),
                nullptr);
}

}  // namespace heed::kernels::reference
