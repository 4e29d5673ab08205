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

/// With h = (x - mean) * inverse and g = dy * weight (Ba et al. 2016):
/// dx = inverse * (g - mean(g) - h * mean(g * h)); RMSNorm has no mean(g).
template <typename T>
void backward_row(const Tensor& dy, int64_t n, const std::vector<double>& normalised,
                  double inverse, bool centred, const Tensor& weight, Tensor& dx) {
  std::vector<double> g = row_of<T>(dy, n);
  std::vector<double> gh = g;
  for (size_t i = 0; i < g.size(); ++i) {
    g[i] *= weight.data<float>()[i];
    gh[i] = g[i] * normalised[i];
  }
  const double mean_g = centred ? mean(g) : 0.0, mean_gh = mean(gh);
  for (size_t i = 0; i < g.size(); ++i)
    dx.data<T>()[n * dx.cols() + static_cast<int64_t>(i)] =
        T(static_cast<float>(inverse * (g[i] - mean_g - normalised[i] * mean_gh)));
}

}  // namespace

void layer_norm_forward(const LayerNormForward& in, Tensor& y, Tensor& stats) {
  visit_floating(in.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < in.x.rows(); ++n) {
      std::vector<double> row = row_of<T>(in.x, n);
      const double centre = mean(row);
      for (double& value : row) value -= centre;
      const double inverse = 1.0 / std::sqrt(mean_square(row) + in.epsilon);
      stats.data<float>()[2 * n] = static_cast<float>(centre);
      stats.data<float>()[2 * n + 1] = static_cast<float>(inverse);
      for (size_t i = 0; i < row.size(); ++i)
        y.data<T>()[n * y.cols() + static_cast<int64_t>(i)] = T(static_cast<float>(
            row[i] * inverse * in.weight.data<float>()[i] + in.bias.data<float>()[i]));
    }
  });
}

void layer_norm_backward(const LayerNormForward& in, const Tensor& stats, const Tensor& dy,
                         LayerNormGradients gradients) {
  const std::vector<double> row_stats = row_of<float>(stats.reshaped({1, stats.elements()}), 0);
  visit_floating(in.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < in.x.rows(); ++n) {
      std::vector<double> normalised = row_of<T>(in.x, n);
      const double centre = row_stats[static_cast<size_t>(2 * n)];
      const double inverse = row_stats[static_cast<size_t>(2 * n + 1)];
      for (double& value : normalised) value = (value - centre) * inverse;
      const std::vector<double> d = row_of<T>(dy, n);
      for (size_t i = 0; i < d.size(); ++i) {
        gradients.d_weight.data<float>()[i] += static_cast<float>(d[i] * normalised[i]);
        gradients.d_bias.data<float>()[i] += static_cast<float>(d[i]);
      }
      backward_row<T>(dy, n, normalised, inverse, true, in.weight, gradients.dx);
    }
  });
}

void rms_norm_forward(const RmsNormForward& in, Tensor& y, Tensor& stats) {
  visit_floating(in.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < in.x.rows(); ++n) {
      const std::vector<double> row = row_of<T>(in.x, n);
      const double inverse = 1.0 / std::sqrt(mean_square(row) + in.epsilon);
      stats.data<float>()[n] = static_cast<float>(inverse);
      for (size_t i = 0; i < row.size(); ++i)
        y.data<T>()[n * y.cols() + static_cast<int64_t>(i)] =
            T(static_cast<float>(row[i] * inverse * in.weight.data<float>()[i]));
    }
  });
}

void rms_norm_backward(const RmsNormForward& in, const Tensor& stats, const Tensor& dy,
                       RmsNormGradients gradients) {
  visit_floating(in.x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t n = 0; n < in.x.rows(); ++n) {
      std::vector<double> normalised = row_of<T>(in.x, n);
      const double inverse = stats.data<float>()[n];
      for (double& value : normalised) value *= inverse;
      const std::vector<double> d = row_of<T>(dy, n);
      for (size_t i = 0; i < d.size(); ++i)
        gradients.d_weight.data<float>()[i] += static_cast<float>(d[i] * normalised[i]);
      backward_row<T>(dy, n, normalised, inverse, false, in.weight, gradients.dx);
    }
  });
}

}  // namespace heed::kernels::reference
