#include "heed/train/optimizers/symmetric_eigenvectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "heed/base/error.h"

namespace heed::train {
namespace {

/// QR steps of one eigenvalue take two or three on average.
constexpr int64_t kMaxStepsPerEigenvalue = 50;

/// A symmetric matrix on its way to the diagonal.
class Eigenproblem {
 public:
  explicit Eigenproblem(const Tensor& matrix)
      : size_(matrix.rows()),
        matrix_(matrix.values<float>().begin(), matrix.values<float>().end()),
        vectors_(matrix_.size()),
        taus_(static_cast<size_t>(size_)),
        diagonal_(static_cast<size_t>(size_)),
        beside_(static_cast<size_t>(size_)) {}

  void solve() {
    for (int64_t k = 0; k + 2 < size_; ++k) eliminate(k);
    for (int64_t k = 0; k < size_; ++k) diagonal(k) = row(k)[k];
    if (size_ > 1) beside(size_ - 2) = row(size_ - 2)[size_ - 1];
    set_basis();
    diagonalize();
  }

  /// The rows of `to` [N, N], by falling eigenvalue.
  void write(Tensor& to) const {
    std::vector<int64_t> order(static_cast<size_t>(size_));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int64_t a, int64_t b) {
      return diagonal_[static_cast<size_t>(a)] > diagonal_[static_cast<size_t>(b)];
    });
    float* out = to.data<float>();
    for (const int64_t i : order)
      out = std::transform(vectors_.begin() + i * size_, vectors_.begin() + (i + 1) * size_, out,
                           [](double x) { return static_cast<float>(x); });
  }

 private:
  double* row(int64_t k) { return matrix_.data() + k * size_; }
  double* vector(int64_t k) { return vectors_.data() + k * size_; }
  double& diagonal(int64_t k) { return diagonal_[static_cast<size_t>(k)]; }
  double& beside(int64_t k) { return beside_[static_cast<size_t>(k)]; }

  /// Reflects rows and columns k + 1 ... so that row k has nothing beyond column k + 1. The vector
  /// of the reflection replaces the row from there on.
  void eliminate(int64_t k) {
    double* const v = row(k);
    double rest = 0;
    for (int64_t i = k + 2; i < size_; ++i) rest += v[i] * v[i];
    double& tau = taus_[static_cast<size_t>(k)];
    beside(k) = v[k + 1];
    if (rest == 0) return;
    const double first = v[k + 1];
    beside(k) = -std::copysign(std::sqrt(first * first + rest), first);
    tau = (beside(k) - first) / beside(k);
    v[k + 1] = 1;
    for (int64_t i = k + 2; i < size_; ++i) v[i] /= first - beside(k);
    std::vector<double> w(static_cast<size_t>(size_));
    for (int64_t i = k + 1; i < size_; ++i)
      for (int64_t j = k + 1; j < size_; ++j) w[static_cast<size_t>(j)] += tau * v[i] * row(i)[j];
    double product = 0;
    for (int64_t i = k + 1; i < size_; ++i) product += w[static_cast<size_t>(i)] * v[i];
    for (int64_t i = k + 1; i < size_; ++i) w[static_cast<size_t>(i)] -= tau / 2 * product * v[i];
    for (int64_t i = k + 1; i < size_; ++i)
      for (int64_t j = k + 1; j < size_; ++j)
        row(i)[j] -= v[i] * w[static_cast<size_t>(j)] + w[static_cast<size_t>(i)] * v[j];
  }

  /// The basis in which the matrix is tridiagonal: the product of all reflections.
  void set_basis() {
    for (int64_t k = 0; k < size_; ++k) vector(k)[k] = 1;
    for (int64_t k = size_ - 3; k >= 0; --k) {
      const double tau = taus_[static_cast<size_t>(k)];
      const double* const v = row(k);
      if (tau == 0) continue;
      for (int64_t i = k + 1; i < size_; ++i) {
        double* const x = vector(i);
        double product = 0;
        for (int64_t j = k + 1; j < size_; ++j) product += x[j] * v[j];
        for (int64_t j = k + 1; j < size_; ++j) x[j] -= tau * product * v[j];
      }
    }
  }

  void diagonalize() {
    double largest = 0;
    for (int64_t k = 0; k < size_; ++k)
      largest = std::max(largest, std::abs(diagonal(k)) + std::abs(beside(k)));
    const double negligible = std::numeric_limits<double>::epsilon() * largest;
    int64_t steps_left = kMaxStepsPerEigenvalue * size_;
    for (int64_t last = size_ - 1; last > 0;) {
      if (std::abs(beside(last - 1)) <= negligible) {
        --last;
        continue;
      }
      int64_t first = last - 1;
      while (first > 0 && std::abs(beside(first - 1)) > negligible) --first;
      require(--steps_left > 0, "the eigenvectors of a matrix of {} rows do not converge", size_);
      step(first, last);
    }
  }

  /// A QR step of rows and columns [first, last], whose elements beside the diagonal are not zero.
  void step(int64_t first, int64_t last) {
    const double end = beside(last - 1), half = (diagonal(last - 1) - diagonal(last)) / 2;
    const double shift =
        diagonal(last) - end * end / (half + std::copysign(std::hypot(half, end), half));
    double x = diagonal(first) - shift, bulge = beside(first);
    for (int64_t k = first; k < last; ++k) {
      const double length = std::hypot(x, bulge);
      const double c = length > 0 ? x / length : 1, s = length > 0 ? bulge / length : 0;
      if (k > first) beside(k - 1) = length;
      const double a = diagonal(k), b = beside(k), d = diagonal(k + 1);
      diagonal(k) = c * c * a + 2 * c * s * b + s * s * d;
      diagonal(k + 1) = s * s * a - 2 * c * s * b + c * c * d;
      beside(k) = c * s * (d - a) + (c * c - s * s) * b;
      rotate(vector(k), vector(k + 1), c, s);
      if (k + 1 == last) break;
      x = beside(k);
      bulge = s * beside(k + 1);
      beside(k + 1) *= c;
    }
  }

  void rotate(double* p, double* q, double c, double s) const {
    for (int64_t i = 0; i < size_; ++i) {
      const double x = p[i], y = q[i];
      p[i] = c * x + s * y;
      q[i] = c * y - s * x;
    }
  }

  int64_t size_;
  std::vector<double> matrix_;   // [N, N]; reduced rows become vectors of reflections
  std::vector<double> vectors_;  // [N, N], as rows
  std::vector<double> taus_;     // of the reflections
  std::vector<double> diagonal_, beside_;
};

}  // namespace

void symmetric_eigenvectors(const Tensor& matrix, Tensor& vectors) {
  for (const float x : matrix.values<float>())
    require(std::isfinite(x), "a matrix of {} rows has the element {}: it has no eigenvectors",
            matrix.rows(), x);
  Eigenproblem problem(matrix);
  problem.solve();
  problem.write(vectors);
}

}  // namespace heed::train
