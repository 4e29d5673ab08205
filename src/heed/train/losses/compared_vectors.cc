#include "heed/train/losses/compared_vectors.h"

#include <algorithm>
#include <cmath>

namespace heed::train {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

Tensor rows_of(const Tensor& x, std::span<const int32_t> rows) {
  Tensor y = Tensor::empty({std::ssize(rows), x.cols()});
  float* to = y.data<float>();
  for (const int32_t row : rows) to = std::copy_n(x.data<float>() + row * x.cols(), x.cols(), to);
  return y;
}

void add_rows_to(const Tensor& y, std::span<const int32_t> rows, Tensor& x) {
  const float* from = y.data<float>();
  for (const int32_t row : rows) {
    float* const to = x.data<float>() + row * x.cols();
    for (int64_t i = 0; i < x.cols(); ++i) to[i] += *from++;
  }
}

ComparedVectors::ComparedVectors(const Tensor& vectors, int64_t width, bool normalized)
    : x(Tensor::empty({vectors.rows(), width})),
      dx(Tensor::zeros({vectors.rows(), width})),
      lengths_(static_cast<size_t>(normalized ? vectors.rows() : 0)) {
  for (int64_t row = 0; row < vectors.rows(); ++row) {
    const float* const from = vectors.data<float>() + row * vectors.cols();
    float* const to = x.data<float>() + row * width;
    std::copy_n(from, width, to);
    if (!normalized) continue;
    const std::span<const float> own(to, static_cast<size_t>(width));
    const double length = std::max(std::sqrt(dot(own, own)), 1e-12);
    lengths_[static_cast<size_t>(row)] = length;
    for (int64_t i = 0; i < width; ++i)
      to[i] = static_cast<float>(static_cast<double>(to[i]) / length);
  }
}

Tensor unit_vectors(const Tensor& vectors, int64_t width) {
  return ComparedVectors(vectors, width, true).x;
}

void ComparedVectors::add(size_t row, double factor, std::span<const float> v) {
  float* const to = dx.data<float>() + row * width();
  for (size_t i = 0; i < v.size(); ++i)
    to[i] += static_cast<float>(factor * static_cast<double>(v[i]));
}

void ComparedVectors::add_gradient(double weight, Tensor& gradient) const {
  for (size_t row = 0; row < static_cast<size_t>(gradient.rows()); ++row) {
    const auto own = vector(row), slope = dx.values<float>().subspan(row * width(), width());
    const double along = lengths_.empty() ? 0 : dot(own, slope);
    const double factor = lengths_.empty() ? weight : weight / lengths_[row];
    float* const to = gradient.data<float>() + row * static_cast<size_t>(gradient.cols());
    for (size_t i = 0; i < width(); ++i)
      to[i] += static_cast<float>(
          factor * (static_cast<double>(slope[i]) - along * static_cast<double>(own[i])));
  }
}

}  // namespace heed::train
