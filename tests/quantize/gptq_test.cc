#include "heed/quantize/gptq.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/kernels/matmul.h"
#include "heed/kernels/quantize.h"
#include "tests/base/testing.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::quantize {
namespace {

using kernels::normals;

/// Rows [N, K] with correlated neighbouring columns, some of them large.
Tensor inputs(int64_t rows, int64_t cols) {
  Tensor x = normals({rows, cols}, 3);
  for (int64_t n = 0; n < rows; ++n) {
    float* row = x.data<float>() + n * cols;
    for (int64_t k = 1; k < cols; ++k) row[k] = 0.8f * row[k - 1] + 0.6f * row[k];
    for (int64_t k = 0; k < cols; k += 17) row[k] *= 5.0f;
  }
  return x;
}

Tensor products_of(const Tensor& x) {
  Tensor products = Tensor::empty({x.cols(), x.cols()});
  kernels::matmul({x, true}, {x}, {}, products);
  return products;
}

TEST(GptqFactors, MultiplyToH) {
  constexpr int64_t kCols = 75;
  const Tensor products = products_of(inputs(300, kCols));
  const GptqFactors factors = gptq_factors(products.clone());
  double mean = 0;
  for (int64_t k = 0; k < kCols; ++k) mean += products.data<float>()[k * kCols + k] / kCols;
  const auto upper = [&](int64_t j, int64_t k) -> double {
    return j == k ? 1.0 : j < k ? factors.upper.data<float>()[k * kCols + j] : 0.0;
  };
  for (int64_t i = 0; i < kCols; ++i)
    for (int64_t j = 0; j < kCols; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kCols; ++k)
        sum += upper(i, k) * factors.diagonal.data<float>()[k] * upper(j, k);
      const double expected = products.data<float>()[i * kCols + j] / mean + (i == j ? 0.01 : 0.0);
      EXPECT_NEAR(sum, expected, 1e-4) << i << " " << j;
    }
}

/// The mean squared difference of the products of x [M, K] with two weights [N, K].
double output_error(const Tensor& x, const Tensor& weight, const Tensor& stored) {
  Tensor wide = Tensor::empty(weight.shape());
  kernels::dequantize(stored, wide);
  Tensor exact = Tensor::empty({x.rows(), weight.rows()}), found = exact.clone();
  kernels::matmul({x}, {weight, true}, {}, exact);
  kernels::matmul({x}, {wide, true}, {}, found);
  double sum = 0;
  for (int64_t i = 0; i < exact.elements(); ++i)
    sum += std::pow(static_cast<double>(exact.data<float>()[i]) - found.data<float>()[i], 2);
  return sum / static_cast<double>(exact.elements());
}

TEST(QuantizeGptq, ChangesOutputsLessThanWeightedRounding) {
  const Tensor x = inputs(600, 160), weight = normals({48, 160}, 4);
  const GptqFactors factors = gptq_factors(products_of(x));
  for (const DType dtype : {DType::q4_0, DType::q4_1}) {
    Tensor plain = Tensor::empty(weight.shape(), dtype), weighted = plain.clone();
    Tensor corrected = plain.clone();
    Tensor squares = Tensor::zeros({160});
    for (int64_t i = 0; i < x.elements(); ++i)
      squares.data<float>()[i % 160] += x.data<float>()[i] * x.data<float>()[i];
    kernels::quantize(weight, plain);
    kernels::quantize_weighted(weight, squares, weighted);
    quantize_gptq(weight, factors, corrected);
    const double by_importance = output_error(x, weight, weighted);
    EXPECT_LT(by_importance, output_error(x, weight, plain)) << name_of(dtype);
    EXPECT_LT(output_error(x, weight, corrected), 0.7 * by_importance) << name_of(dtype);
  }
}

TEST(QuantizeGptq, EqualsRoundingForIndependentColumns) {
  const Tensor weight = normals({9, 64}, 4);
  Tensor products = Tensor::zeros({64, 64});
  for (int64_t k = 0; k < 64; ++k) products.data<float>()[k * 65] = 1.0f + static_cast<float>(k);
  const GptqFactors factors = gptq_factors(products);
  for (const DType dtype : {DType::q4_0, DType::q4_1}) {
    Tensor found = Tensor::empty(weight.shape(), dtype), expected = found.clone();
    quantize_gptq(weight, factors, found);
    kernels::quantize_weighted(weight, factors.diagonal, expected);
    EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), static_cast<size_t>(found.bytes())), 0);
  }
}

TEST(QuantizeGptq, RoundsColumnsWithoutInputs) {
  Tensor x = inputs(200, 64);
  for (int64_t n = 0; n < x.rows(); ++n)
    for (const int64_t unused : {0, 7, 40}) x.data<float>()[n * 64 + unused] = 0.0f;
  const Tensor weight = normals({9, 64}, 4);
  Tensor y = Tensor::empty(weight.shape(), DType::q4_0), wide = Tensor::empty(weight.shape());
  quantize_gptq(weight, gptq_factors(products_of(x)), y);
  kernels::dequantize(y, wide);
  for (int64_t n = 0; n < weight.rows(); ++n)
    for (const int64_t unused : {0, 7, 40})
      EXPECT_NEAR(wide.data<float>()[n * 64 + unused], weight.data<float>()[n * 64 + unused], 1.5)
          << n << " " << unused;
}

TEST(QuantizeGptq, DoesNotDependOnThreads) {
  const Tensor x = inputs(200, 96), weight = normals({200, 96}, 4);
  kernels::expect_same_on_any_thread_count([&] {
    const GptqFactors factors = gptq_factors(products_of(x));
    Tensor y = Tensor::empty(weight.shape(), DType::q4_0);
    quantize_gptq(weight, factors, y);
    return std::vector{y, factors.diagonal};
  });
}

}  // namespace
}  // namespace heed::quantize
