#include "heed/train/optimizers/orthonormal_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/kernels/matmul.h"

namespace heed::train {
namespace {

/// Rows that are reduced one by one before products apply their reflections to all others.
constexpr int64_t kBlock = 32;

/// The reflection 1 - tau v v^T that takes row[pivot...] to a multiple of the first unit vector.
/// Overwrites the row with v, which is 0 before the pivot and 1 there. Returns tau.
float make_reflection(float* row, int64_t pivot, int64_t size) {
  double rest = 0;
  for (int64_t i = pivot + 1; i < size; ++i) rest += static_cast<double>(row[i]) * row[i];
  const double first = row[pivot];
  std::fill_n(row, pivot, 0.0f);
  row[pivot] = 1.0f;
  if (rest == 0) return 0.0f;
  const double reflected = -std::copysign(std::sqrt(first * first + rest), first);
  for (int64_t i = pivot + 1; i < size; ++i)
    row[i] = static_cast<float>(row[i] / (first - reflected));
  return static_cast<float>((reflected - first) / reflected);
}

/// rows += ((rows v^T) factor) v, with v [K, N] and a factor [K, K].
void add_reflections(const Tensor& v, const kernels::Factor& factor, Tensor rows) {
  Tensor products = Tensor::empty({rows.rows(), v.rows()});
  Tensor weights = Tensor::empty({rows.rows(), v.rows()});
  kernels::matmul({rows}, {v, true}, {}, products);
  kernels::matmul({products}, factor, {}, weights);
  kernels::matmul({weights}, {v}, {.accumulate = true}, rows);
}

/// Reduces rows [K, N] whose first pivot is `begin` and overwrites them with the vectors v of their
/// reflections. Returns -T [K, K], upper triangular, with H_1 H_2 ... H_K = 1 - v^T T v.
Tensor reduce_block(Tensor rows, int64_t begin) {
  const int64_t size = rows.rows(), cols = rows.cols();
  Tensor negative_tau = Tensor::empty({1, 1});
  std::vector<float> taus;
  for (int64_t i = 0; i < size; ++i) {
    taus.push_back(make_reflection(rows.data<float>() + i * cols, begin + i, cols));
    negative_tau.data<float>()[0] = -taus.back();
    if (i + 1 < size)
      add_reflections(rows.row_slice(i, i + 1), {negative_tau}, rows.row_slice(i + 1, size));
  }
  Tensor gram = Tensor::empty({size, size}), negative_t = Tensor::zeros({size, size});
  kernels::matmul({rows}, {rows, true}, {}, gram);
  const float* const g = gram.data<float>();
  float* const t = negative_t.data<float>();
  for (int64_t col = 0; col < size; ++col) {
    const float tau = taus[static_cast<size_t>(col)];
    for (int64_t row = 0; row < col; ++row) {
      float sum = 0;
      for (int64_t k = row; k < col; ++k) sum += t[row * size + k] * g[k * size + col];
      t[row * size + col] = -tau * sum;
    }
    t[col * size + col] = -tau;
  }
  return negative_t;
}

}  // namespace

void orthonormal_rows(Tensor& x, Tensor& q) {
  const int64_t size = x.rows();
  std::vector<Tensor> factors;  // of each block
  for (int64_t begin = 0; begin < size; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, size);
    factors.push_back(reduce_block(x.row_slice(begin, end), begin));
    if (end < size)
      add_reflections(x.row_slice(begin, end), {factors.back()}, x.row_slice(end, size));
  }
  q.fill_zero();
  for (int64_t i = 0; i < size; ++i) q.data<float>()[i * size + i] = 1.0f;
  // Q = (H_1 (H_2 ...)), from the right. Rows before a block's first are still those of the
  // identity, which its reflections leave.
  for (int64_t block = std::ssize(factors) - 1; block >= 0; --block) {
    const int64_t begin = block * kBlock, end = std::min(begin + kBlock, size);
    add_reflections(x.row_slice(begin, end), {factors[static_cast<size_t>(block)], true},
                    q.row_slice(begin, size));
  }
}

}  // namespace heed::train
