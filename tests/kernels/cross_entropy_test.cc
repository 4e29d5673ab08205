#include "heed/kernels/cross_entropy.h"

#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

std::vector<int32_t> some_targets(int64_t rows, int64_t classes) {
  std::vector<int32_t> targets;
  const CounterRandom random(40);
  for (int64_t n = 0; n < rows; ++n)
    targets.push_back(static_cast<int32_t>(
        random.below(static_cast<uint64_t>(n), static_cast<uint64_t>(classes))));
  return targets;
}

struct LossAndGradient {
  Tensor losses, d_logits;
};

LossAndGradient run(Backend backend, const Tensor& logits, const std::vector<int32_t>& targets,
                    CrossEntropyOptions options, DType dtype = DType::f32) {
  LossAndGradient r{Tensor::empty({logits.rows(), 2}), Tensor::empty(logits.shape(), dtype)};
  const HostBackendScope scope(backend);
  cross_entropy(logits, targets, options, r.losses, r.d_logits);
  return r;
}

TEST(CrossEntropy, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : {1, 3, 15, 16, 17, 255, 1000, 10007})
      for (const DType dtype : kFloating)
        for (const float smoothing : {0.0f, 0.1f})
          for (const float spread : {1e-30f, 2.0f, 50.0f}) {
            const Tensor logits = normals({3, cols}, 41, DType::f32, spread);
            const auto targets = some_targets(3, cols);
            const CrossEntropyOptions options{smoothing, 0.25f};
            const LossAndGradient fast = run(Backend::cpu, logits, targets, options, dtype);
            const LossAndGradient plain = run(Backend::reference, logits, targets, options, dtype);
            expect_close(fast.losses, plain.losses, target + " losses", spread);
            expect_close(fast.d_logits, plain.d_logits, target + " d_logits", 0.01);
          }
  });
}

TEST(CrossEntropy, CpuAgreesWithReferenceWithASoftCap) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : {1, 17, 255, 10007})
      for (const DType dtype : kFloating)
        for (const float cap : {0.5f, 30.0f}) {
          const Tensor logits = normals({3, cols}, 41, DType::f32, 20.0f);
          const auto targets = some_targets(3, cols);
          const CrossEntropyOptions options{0.1f, 0.25f, cap};
          const LossAndGradient fast = run(Backend::cpu, logits, targets, options, dtype);
          const LossAndGradient plain = run(Backend::reference, logits, targets, options, dtype);
          expect_close(fast.losses, plain.losses, target + " losses", 20.0);
          expect_close(fast.d_logits, plain.d_logits, target + " d_logits", 0.01);
          Tensor absent, only_losses = Tensor::empty({3, 2});
          cpu::cross_entropy(logits, targets, options, only_losses, absent);
          expect_close(only_losses, fast.losses, target + " without gradient", 0.0);
        }
  });
}

TEST(CrossEntropy, TheLossOfUniformLogitsIsLogV) {
  for (const float value : {-1e30f, 0.0f, 5.0f, 1e30f})
    for (const float smoothing : {0.0f, 0.1f}) {
      const Tensor logits = Tensor::full({2, 1000}, value);
      const LossAndGradient r = run(Backend::cpu, logits, {3, 999}, {smoothing, 1.0f});
      // Beside a logit of 1e30 the logarithm is lost to rounding, in f32 and in double.
      if (std::abs(value) > 100) continue;
      for (const float loss : r.losses.values<float>()) EXPECT_NEAR(loss, std::log(1000.0), 1e-5);
      EXPECT_NEAR(r.d_logits.data<float>()[3], 0.001 - (1.0 - smoothing) - smoothing / 1000.0,
                  1e-6);
    }
}

TEST(CrossEntropy, IsPreciseForManyClasses) {
  const int64_t classes = 256000;
  const Tensor logits = normals({1, classes}, 42, DType::f32, 3.0f);
  const LossAndGradient fast = run(Backend::cpu, logits, {77}, {0.1f, 1.0f});
  const LossAndGradient plain = run(Backend::reference, logits, {77}, {0.1f, 1.0f});
  for (const int i : {0, 1})
    EXPECT_NEAR(fast.losses.data<float>()[i] / plain.losses.data<float>()[i], 1.0, 3e-7);
  const std::vector<double> a = numbers(fast.d_logits), b = numbers(plain.d_logits);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6 * std::abs(b[i]) + 1e-12) << i;
}

TEST(CrossEntropy, TheGradientMayOverwriteTheLogitsOrBeOmitted) {
  const Tensor logits = normals({5, 333}, 43);
  const auto targets = some_targets(5, 333);
  for (const float cap : {0.0f, 2.0f}) {
    const CrossEntropyOptions options{0.1f, 1.0f, cap};
    const LossAndGradient apart = run(Backend::cpu, logits, targets, options);
    Tensor in_place = logits.clone(), losses = Tensor::empty({5, 2});
    cpu::cross_entropy(in_place, targets, options, losses, in_place);
    expect_close(in_place, apart.d_logits, "in place", 0.0);
    Tensor absent, only_losses = Tensor::empty({5, 2});
    cpu::cross_entropy(logits, targets, options, only_losses, absent);
    expect_close(only_losses, apart.losses, "without gradient", 0.0);
    EXPECT_FALSE(absent.defined());
  }
}

TEST(CrossEntropy, ReferenceGradientMatchesFiniteDifferences) {
  Tensor logits = normals({4, 11}, 44);
  const auto targets = some_targets(4, 11);
  for (const float smoothing : {0.0f, 0.1f})
    for (const float cap : {0.0f, 1.5f}) {
      const CrossEntropyOptions options{smoothing, 1.0f, cap};
      const LossAndGradient r = run(Backend::reference, logits, targets, options);
      const auto loss = [&] {
        const Tensor losses = run(Backend::reference, logits, targets, options).losses;
        double sum = 0.0;
        for (int64_t n = 0; n < 4; ++n) sum += losses.data<float>()[2 * n];
        return sum;
      };
      EXPECT_LT(gradient_error(logits, r.d_logits, loss), 1e-4);
    }
}

TEST(CrossEntropy, AClassWithLogitMinusInfinityHasNoGradient) {
  Tensor logits = normals({1, 40}, 45);
  logits.data<float>()[7] = -std::numeric_limits<float>::infinity();
  const LossAndGradient r = run(Backend::cpu, logits, {3}, {0.0f, 1.0f});
  EXPECT_EQ(r.d_logits.data<float>()[7], 0.0f);
  EXPECT_TRUE(std::isfinite(r.losses.data<float>()[0]));
}

TEST(CrossEntropy, AllowsLogitsOfMinusInfinityBeforeVeryLowOnes) {
  Tensor logits = Tensor::full({1, 10000}, -200.0f);
  for (int64_t i = 0; i < 5000; ++i)
    logits.data<float>()[i] = -std::numeric_limits<float>::infinity();
  const LossAndGradient r = run(Backend::cpu, logits, {9999}, {0.0f, 1.0f});
  EXPECT_NEAR(r.losses.data<float>()[0], std::log(5000.0), 1e-4);
  EXPECT_EQ(r.d_logits.data<float>()[0], 0.0f);
  EXPECT_NEAR(r.d_logits.data<float>()[5000], 1.0 / 5000, 1e-9);
}

TEST(CrossEntropy, NaNPropagates) {
  Tensor logits = normals({1, 40}, 46);
  logits.data<float>()[39] = std::numeric_limits<float>::quiet_NaN();
  const LossAndGradient r = run(Backend::cpu, logits, {3}, {0.1f, 1.0f});
  EXPECT_TRUE(std::isnan(r.losses.data<float>()[0]));
  EXPECT_TRUE(std::isnan(r.d_logits.data<float>()[0]));
}

TEST(CrossEntropy, DoesNotDependOnTheNumberOfThreads) {
  const Tensor logits = normals({50, 5000}, 47);
  const auto targets = some_targets(50, 5000);
  expect_same_on_any_thread_count([&] {
    const LossAndGradient r = run(Backend::cpu, logits, targets, {0.1f, 1.0f});
    return std::vector<Tensor>{r.losses, r.d_logits};
  });
}

}  // namespace
}  // namespace heed::kernels
