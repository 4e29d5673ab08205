#include "heed/kernels/matmul.h"

namespace heed::kernels::reference {
namespace {

double element(const Tensor& matrix, int64_t row, int64_t col) {
  return visit_floating(matrix.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return static_cast<double>(static_cast<float>(matrix.data<T>()[row * matrix.cols() + col]));
  });
}

double element(const Factor& factor, int64_t row, int64_t col) {
  return factor.transposed ? element(factor.matrix, col, row) : element(factor.matrix, row, col);
}

}  // namespace

void matmul(const Factor& a, const Factor& b, const MatmulOptions& options, Tensor& c) {
  visit_floating(c.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < c.rows(); ++row)
      for (int64_t col = 0; col < c.cols(); ++col) {
        double sum = options.accumulate ? element(c, row, col) : 0.0;
        for (int64_t k = 0; k < a.cols(); ++k) sum += element(a, row, k) * element(b, k, col);
        if (options.bias.defined()) sum += static_cast<double>(options.bias.data<float>()[col]);
        c.data<T>()[row * c.cols() + col] = T(static_cast<float>(sum));
      }
  });
}

/// The matrix itself, [K, N]: nothing is gained here by another layout.
PackedMatrix pack(const Factor& b) {
  Tensor copy = Tensor::empty({b.rows(), b.cols()});
  for (int64_t row = 0; row < b.rows(); ++row)
    for (int64_t col = 0; col < b.cols(); ++col)
      copy.data<float>()[row * b.cols() + col] = static_cast<float>(element(b, row, col));
  return {copy, b.rows(), b.cols()};
}

void matmul_packed(const Tensor& a, const PackedMatrix& b, const MatmulOptions& options,
                   Tensor& c) {
  reference::matmul({a}, {b.panels}, options, c);
}

}  // namespace heed::kernels::reference
