#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::train {

/// The sum of the products of equally many numbers, in f64.
double dot(std::span<const float> a, std::span<const float> b);

/// Rows of x [N, D], which may repeat.
Tensor rows_of(const Tensor& x, std::span<const int32_t> rows);
/// Adds the rows of y to these of x.
void add_rows_to(const Tensor& y, std::span<const int32_t> rows, Tensor& x);

/// The first `width` numbers of each vector at length 1.
Tensor unit_vectors(const Tensor& vectors, int64_t width);

/// The first numbers of vectors, perhaps at length 1, and what a loss adds to their gradients.
class ComparedVectors {
 public:
  ComparedVectors(const Tensor& vectors, int64_t width, bool normalized);

  Tensor x;   // [N, d]
  Tensor dx;  // [N, d]

  size_t width() const { return static_cast<size_t>(x.cols()); }
  std::span<const float> vector(size_t row) const {
    return x.values<float>().subspan(row * width(), width());
  }
  /// The gradient of a row += factor * v.
  void add(size_t row, double factor, std::span<const float> v);
  /// Adds `weight` times the gradient to that of the whole vectors.
  void add_gradient(double weight, Tensor& gradient) const;

 private:
  std::vector<double> lengths_;  // of the vectors before; empty: they are as they were
};

}  // namespace heed::train
