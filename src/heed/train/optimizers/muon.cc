#include "heed/train/optimizers/muon.h"

#include <algorithm>
#include <cmath>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/matmul.h"

namespace heed::train {
namespace {

/// Coefficients of x, x^3 and x^5, chosen by Jordan et al. for the fastest growth of small singular
/// values. They do not converge to 1, which does no harm.
constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f;

void step_of_matrix(Tensor value, Tensor update, const MuonOptions& options) {
  Tensor direction = orthogonalized(update, options.iterations, options.dtype);
  const auto largest = static_cast<float>(std::max(value.rows(), value.cols()));
  kernels::scale(-options.learning_rate * 0.2f * std::sqrt(largest), direction);
  kernels::add_to(direction, value);
}

}  // namespace

Tensor orthogonalized(const Tensor& x, int iterations, DType dtype) {
  const auto norm = static_cast<float>(std::sqrt(kernels::sum_of_squares(x)));
  Tensor scaled = x.clone();
  kernels::scale(1.0f / std::max(norm, 1e-7f), scaled);
  Tensor current = Tensor::empty(x.shape(), dtype), next = Tensor::empty(x.shape(), dtype);
  kernels::convert(scaled, current);
  // The smaller of X X^T and X^T X.
  const bool wide = x.rows() <= x.cols();
  const int64_t size = std::min(x.rows(), x.cols());
  Tensor gram = Tensor::empty({size, size}, dtype);
  Tensor polynomial = Tensor::empty({size, size}, dtype);
  for (int i = 0; i < iterations; ++i) {
    const kernels::Factor left{current, !wide}, right{current, wide};
    kernels::matmul(left, right, {}, gram);
    kernels::convert(gram, polynomial);
    kernels::scale(kB / kC, polynomial);
    kernels::matmul({gram}, {gram}, {.accumulate = true}, polynomial);
    kernels::scale(kC, polynomial);
    kernels::convert(current, next);
    kernels::scale(kA, next);
    const kernels::Factor p{polynomial}, c{current};
    kernels::matmul(wide ? p : c, wide ? c : p, {.accumulate = true}, next);
    std::swap(current, next);
  }
  return current;
}

void muon_step(Tensor& value, const Tensor& gradient, Tensor& momentum,
               const MuonOptions& options) {
  Tensor update = gradient.defined() ? gradient.clone() : Tensor::zeros(value.shape());
  kernels::scale((1.0f - options.momentum) * options.gradient_scale, update);
  kernels::scale(options.momentum, momentum);
  kernels::add_to(update, momentum);
  Tensor ahead = momentum.clone();
  kernels::scale(options.momentum, ahead);
  kernels::add_to(ahead, update);
  kernels::scale(1.0f - options.learning_rate * options.weight_decay, value);
  const int64_t rows = value.shape()[-2];
  for (int64_t begin = 0; begin < value.rows(); begin += rows)
    step_of_matrix(value.row_slice(begin, begin + rows), update.row_slice(begin, begin + rows),
                   options);
}

}  // namespace heed::train
