#include "heed/kernels/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor softmax_of(const Tensor& x, Backend backend = Backend::cpu) {
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const HostBackendScope scope(backend);
  softmax_forward(x, y);
  return y;
}

void expect_agreement(const Tensor& x, const std::string& what) {
  const double scale = 0.1 / static_cast<double>(x.cols());
  const Tensor y = softmax_of(x, Backend::reference);
  expect_close(softmax_of(x), y, what + " softmax", scale);
  const Tensor dy = normals(x.shape(), 31, x.dtype());
  Tensor fast = Tensor::empty(x.shape(), x.dtype()), plain = Tensor::empty(x.shape(), x.dtype());
  cpu::softmax_backward(y, dy, fast);
  reference::softmax_backward(y, dy, plain);
  // dy - sum(y dy) may cancel: its error is relative to the terms.
  const std::vector<double> weights = numbers(y);
  const double largest = *std::max_element(weights.begin(), weights.end());
  expect_close(fast, plain, what + " backward", 0.1 * largest);
  if (x.dtype() != DType::f32) return;
  cpu::log_softmax(x, fast);
  reference::log_softmax(x, plain);
  expect_close(fast, plain, what + " log_softmax", 0.1);
}

TEST(Softmax, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const DType dtype : kFloating)
        for (const float spread : {1e-30f, 1.0f, 20.0f, 1e30f})
          expect_agreement(normals({3, cols}, 30, dtype, spread), target);
    expect_agreement(normals({2, 10007}, 32, DType::f32, 4.0f), target);
  });
}

TEST(Softmax, LogSumExpIsWhatLogSoftmaxSubtracts) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const Backend backend : {Backend::cpu, Backend::reference}) {
        Tensor x = normals({3, cols}, 38, DType::f32, 5.0f), y = Tensor::empty({3, cols});
        for (int64_t i = 0; i < cols; ++i) x.data<float>()[i] = -kInfinity;
        Tensor sums = Tensor::empty({3, 2});
        const HostBackendScope scope(backend);
        log_softmax(x, y);
        log_sum_exp(x, sums);
        for (int64_t i = 0; i < x.elements(); ++i) {
          const float* const row = sums.data<float>() + i / cols * 2;
          const float expected = x.data<float>()[i] - row[0] - row[1];
          if (backend == Backend::cpu) {
            EXPECT_EQ(y.data<float>()[i], expected) << target << ", " << i;
          } else if (std::isfinite(expected)) {
            EXPECT_NEAR(y.data<float>()[i], expected, 1e-5);
          }
        }
      }
  });
}

TEST(Softmax, RowsSumToOne) {
  for (const int64_t cols : kOddSizes) {
    const Tensor y = softmax_of(normals({1, cols}, 33, DType::f32, 5.0f));
    double sum = 0.0;
    for (const double value : numbers(y)) sum += value;
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST(Softmax, TextbookExample) {
  const Tensor y = softmax_of(Tensor::of({1, 3}, std::vector<float>{0.606f, 0.2f, -0.8f}));
  EXPECT_NEAR(y.data<float>()[0], 0.523, 5e-4);
  EXPECT_NEAR(y.data<float>()[1], 0.349, 5e-4);
  EXPECT_NEAR(y.data<float>()[2], 0.128, 5e-4);
}

TEST(Softmax, EqualElementsHaveEqualWeights) {
  for (const float value : {-1e30f, -1e-30f, 0.0f, 7.0f, 1e30f})
    for (const float p : softmax_of(Tensor::full({2, 50}, value)).values<float>())
      EXPECT_FLOAT_EQ(p, 0.02f);
}

TEST(Softmax, MinusInfinityGivesZeroEvenInAWholeRow) {
  Tensor x = Tensor::full({2, 5}, -kInfinity);
  x.data<float>()[1] = 3.0f;
  x.data<float>()[4] = 3.0f;
  const std::vector<double> expected = {0, 0.5, 0, 0, 0.5, 0, 0, 0, 0, 0};
  for (const Backend backend : {Backend::cpu, Backend::reference})
    EXPECT_EQ(numbers(softmax_of(x, backend)), expected);
  Tensor log = Tensor::empty({2, 5});
  cpu::log_softmax(x, log);
  EXPECT_NEAR(log.data<float>()[1], std::log(0.5), 1e-6);
  for (int64_t i = 5; i < 10; ++i) EXPECT_EQ(log.data<float>()[i], -kInfinity);
}

TEST(Softmax, NaNAffectsOnlyItsRow) {
  on_every_target([](const std::string& target) {
    for (const int64_t place : {0, 1, 33, 99}) {
      Tensor x = normals({2, 100}, 34);
      x.data<float>()[place] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<double> y = numbers(softmax_of(x));
      for (size_t i = 0; i < 100; ++i) {
        EXPECT_TRUE(std::isnan(y[i])) << target;
        EXPECT_FALSE(std::isnan(y[100 + i])) << target;
      }
    }
    const Tensor only = Tensor::full({1, 20}, std::numeric_limits<float>::quiet_NaN());
    EXPECT_TRUE(std::isnan(numbers(softmax_of(only))[3])) << target;
  });
}

TEST(Softmax, ReferenceGradientMatchesFiniteDifferences) {
  Tensor x = normals({4, 9}, 35);
  const Tensor dy = normals({4, 9}, 36);
  Tensor y = softmax_of(x, Backend::reference), dx = Tensor::empty({4, 9});
  reference::softmax_backward(y, dy, dx);
  const auto loss = [&] {
    reference::softmax_forward(x, y);
    return weighted_sum(y, dy);
  };
  EXPECT_LT(gradient_error(x, dx, loss), 1e-4);
}

TEST(Softmax, LogSoftmaxMayOverwriteItsInput) {
  const Tensor x = normals({3, 5000}, 37);
  Tensor apart = Tensor::empty(x.shape()), in_place = x.clone();
  cpu::log_softmax(x, apart);
  cpu::log_softmax(in_place, in_place);
  expect_close(in_place, apart, "in place", 0.0);
}

TEST(Softmax, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = normals({300, 777}, 38);
  expect_same_on_any_thread_count([&] { return std::vector<Tensor>{softmax_of(x)}; });
}

}  // namespace
}  // namespace heed::kernels
