#include "heed/quantize/gptq.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"
#include "heed/kernels/quantize.h"

namespace heed::quantize {
namespace {

constexpr int64_t kBlock = kernels::kGptqColumns;

/// Eliminates rows [first, last) of a lower triangle, last row first: divides each row by its
/// diagonal element and subtracts its contribution from the rows of the range above it.
void eliminate(float* rows, int64_t cols, int64_t first, int64_t last) {
  for (int64_t k = last - 1; k >= first; --k) {
    float* row = rows + k * cols;
    row[k] = std::max(row[k], kDamping);  // smaller only through rounding errors
    for (int64_t j = 0; j < k; ++j) row[j] /= row[k];
    for (int64_t i = first; i < k; ++i) {
      const float factor = row[i] * row[k];
      float* other = rows + i * cols;
      for (int64_t j = 0; j <= i; ++j) other[j] -= factor * row[j];
    }
  }
}

/// Subtracts the contribution of rows [first, last) from row i < first.
void subtract(float* rows, int64_t cols, int64_t first, int64_t last, int64_t i) {
  float* other = rows + i * cols;
  for (int64_t k = last - 1; k >= first; --k) {
    const float* row = rows + k * cols;
    const float factor = row[i] * row[k];
    for (int64_t j = 0; j <= i; ++j) other[j] -= factor * row[j];
  }
}

}  // namespace

GptqFactors gptq_factors(Tensor products) {
  constexpr int64_t kRows = 8, kGrain = 16;
  const int64_t cols = products.cols();
  float* rows = products.data<float>();
  double sum = 0;
  for (int64_t k = 0; k < cols; ++k) sum += static_cast<double>(rows[k * cols + k]);
  require(std::isfinite(sum), "the model's activations are not finite: its weights are damaged");
  if (!(sum > 0)) return {};
  const double mean = sum / static_cast<double>(cols);
  for (int64_t i = 0; i < products.elements(); ++i)
    rows[i] = static_cast<float>(static_cast<double>(rows[i]) / mean);
  for (int64_t k = 0; k < cols; ++k) rows[k * cols + k] += kDamping;
  for (int64_t last = cols; last > 0; last = std::max<int64_t>(last - kRows, 0)) {
    const int64_t first = std::max<int64_t>(last - kRows, 0);
    eliminate(rows, cols, first, last);
    parallel_for(first, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) subtract(rows, cols, first, last, i);
    });
  }
  GptqFactors factors{Tensor::empty({cols}), products};
  for (int64_t k = 0; k < cols; ++k) factors.diagonal.data<float>()[k] = rows[k * cols + k];
  return factors;
}

void quantize_gptq(const Tensor& weight, const GptqFactors& factors, Tensor& y) {
  const int64_t rows = weight.rows(), cols = weight.cols();
  Tensor x = Tensor::empty({rows, cols});
  kernels::dequantize(weight, x);
  Tensor errors = Tensor::empty({cols, rows}), corrections = Tensor::zeros({rows, kBlock});
  Tensor within_block = Tensor::zeros({kBlock, kBlock});
  const float* upper = factors.upper.data<float>();
  for (int64_t begin = 0; begin < cols; begin += kBlock) {
    if (begin > 0) {
      Tensor earlier = Tensor::empty({kBlock, begin});
      for (int64_t i = 0; i < kBlock; ++i)
        std::copy_n(upper + (begin + i) * cols, begin, earlier.data<float>() + i * begin);
      kernels::matmul({errors.row_slice(0, begin), true}, {earlier, true}, {}, corrections);
    }
    for (int64_t i = 0; i < kBlock; ++i)
      for (int64_t j = 0; j < i; ++j)
        within_block.data<float>()[j * kBlock + i] = upper[(begin + i) * cols + begin + j];
    Tensor block_errors = errors.row_slice(begin, begin + kBlock);
    kernels::quantize_gptq({x, begin, corrections, factors.diagonal, within_block}, y,
                           block_errors);
  }
}

}  // namespace heed::quantize
