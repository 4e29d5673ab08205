#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace heed::generate {

/// Logistic regression with N coefficients, one of which may be for a constant input: those that
/// maximise the likelihood of outcomes from 0 to 1, shares included (Papke and Wooldridge 1996),
/// by Newton's method. A weak Gaussian prior keeps them finite.
template <size_t N>
class LogisticRegression {
 public:
  using Vector = std::array<double, N>;

  void add(const Vector& inputs, double outcome) { examples_.push_back({inputs, outcome}); }

  Vector fit() const {
    constexpr int kMostSteps = 50;
    constexpr double kPrior = 1e-2, kSmallStep = 1e-10, kLongestStep = 4;
    Vector weights{};
    for (int step = 0; step < kMostSteps; ++step) {
      Vector gradient{};
      std::array<Vector, N> hessian{};
      for (size_t i = 0; i < N; ++i) {
        gradient[i] = kPrior * weights[i];
        hessian[i][i] = kPrior;
      }
      for (const auto& [inputs, outcome] : examples_) {
        double x = 0;
        for (size_t i = 0; i < N; ++i) x += weights[i] * inputs[i];
        const double p = 1 / (1 + std::exp(-x));
        for (size_t i = 0; i < N; ++i) {
          gradient[i] += (p - outcome) * inputs[i];
          for (size_t j = 0; j < N; ++j) hessian[i][j] += p * (1 - p) * inputs[i] * inputs[j];
        }
      }
      const Vector change = solve(hessian, gradient);
      double largest = 0;
      for (const double value : change) largest = std::max(largest, std::abs(value));
      const double scale = largest > kLongestStep ? kLongestStep / largest : 1;
      for (size_t i = 0; i < N; ++i) weights[i] -= scale * change[i];
      if (largest < kSmallStep) break;
    }
    return weights;
  }

 private:
  /// The solution of a x = b for a positive definite matrix, by elimination.
  static Vector solve(std::array<Vector, N> a, Vector b) {
    for (size_t i = 0; i < N; ++i)
      for (size_t row = i + 1; row < N; ++row) {
        const double factor = a[row][i] / a[i][i];
        for (size_t j = i; j < N; ++j) a[row][j] -= factor * a[i][j];
        b[row] -= factor * b[i];
      }
    for (size_t i = N; i-- > 0;) {
      for (size_t j = i + 1; j < N; ++j) b[i] -= a[i][j] * b[j];
      b[i] /= a[i][i];
    }
    return b;
  }

  std::vector<std::pair<Vector, double>> examples_;
};

}  // namespace heed::generate
