#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/testing.h"
#include "heed/tensor/tensor.h"
#include "tests/base/threads.h"

namespace heed::kernels {

/// Widths around those of vectors, and wider than several of them.
inline constexpr int64_t kOddSizes[] = {1, 3, 15, 16, 17, 255, 1000};
inline constexpr DType kFloating[] = {DType::f32, DType::bf16};

inline Tensor in_dtype(const Tensor& x, DType dtype) {
  Tensor y = Tensor::empty(x.shape(), dtype);
  reference::convert(x, y);
  return y;
}

/// Normal numbers times `spread`.
inline Tensor normals(const Shape& shape, uint64_t seed, DType dtype = DType::f32,
                      float spread = 1.0f) {
  Tensor x = Tensor::empty(shape);
  const CounterRandom random(seed);
  for (int64_t i = 0; i < x.elements(); ++i)
    x.data<float>()[i] = spread * static_cast<float>(random.normal(static_cast<uint64_t>(i)));
  return in_dtype(x, dtype);
}

/// Of the elements; the shapes may differ.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.bytes() == b.bytes() &&
         (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())) == 0);
}

inline std::vector<double> numbers(const Tensor& x) {
  const Tensor f32 = in_dtype(x, DType::f32);
  return {f32.data<float>(), f32.data<float>() + f32.elements()};
}

/// Each element of `fast` is within 1e-5 * (|plain| + magnitude); of bf16, one rounding more.
inline void expect_close(const Tensor& fast, const Tensor& plain, const std::string& what,
                         double magnitude = 1.0) {
  ASSERT_EQ(fast.shape(), plain.shape()) << what;
  const std::vector<double> a = numbers(fast), b = numbers(plain);
  const double rounding = fast.dtype() == DType::bf16 ? 0x1p-7 : 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double allowed = 1e-5 * (std::abs(b[i]) + magnitude) + rounding * std::abs(b[i]);
    ASSERT_LE(std::abs(a[i] - b[i]), allowed)
        << what << ", " << name_of(fast.dtype()) << ", element " << i << " of " << a.size() << ": "
        << a[i] << " instead of " << b[i];
  }
}

/// Calls run(name) with each Highway target that this machine can run, then restores the best one.
inline void on_every_target(const std::function<void(const std::string&)>& run) {
  const auto use = [](int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  use(0);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    use(target);
    run(hwy::TargetName(target));
  }
  use(0);
}

/// Expects that run() returns the same bits on one thread and on several.
inline void expect_same_on_any_thread_count(const std::function<std::vector<Tensor>()>& run) {
  const auto run_on = [&](int threads) {
    const Threads set(threads);
    return run();
  };
  const std::vector<Tensor> expected = run_on(1);
  for (const int threads : {2, 3}) {
    const std::vector<Tensor> found = run_on(threads);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(
          std::memcmp(expected[i].raw(), found[i].raw(), static_cast<size_t>(expected[i].bytes())),
          0)
          << "result " << i << " on " << threads << " threads";
  }
}

/// The sum of y * weights: a loss whose gradient for y is `weights`.
inline double weighted_sum(const Tensor& y, const Tensor& weights) {
  const std::vector<double> a = numbers(y), b = numbers(weights);
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// |gradient - finite differences of loss() with respect to x| / |finite differences|, as vectors
/// (central differences of order 4). x is f32, and restored afterwards.
inline double gradient_error(Tensor& x, const Tensor& gradient,
                             const std::function<double()>& loss) {
  constexpr float h = 0x1p-6f;
  const std::vector<double> claimed = numbers(gradient);
  double difference = 0.0, length = 0.0;
  for (int64_t i = 0; i < x.elements(); ++i) {
    const float middle = x.data<float>()[i];
    const auto at = [&](float step) {
      x.data<float>()[i] = middle + step;
      const double value = loss();
      x.data<float>()[i] = middle;
      return value;
    };
    const double slope = (8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h);
    difference += std::pow(claimed[static_cast<size_t>(i)] - slope, 2.0);
    length += slope * slope;
  }
  return std::sqrt(difference / length);
}

}  // namespace heed::kernels
