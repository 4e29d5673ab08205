#include "heed/kernels/norm.h"

#include <algorithm>
#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

/// All inputs and results of a norm over [rows, cols]: layer norm, or RMSNorm without the bias.
struct NormCase {
  bool centred;
  Tensor x, dy, weight, bias;
  float epsilon = 1e-5f;

  NormCase(bool centred_, const Tensor& x_)
      : centred(centred_),
        x(x_),
        dy(normals(x.shape(), 81, x.dtype())),
        weight(normals({x.cols()}, 82)),
        bias(normals({x.cols()}, 83)) {}
};

struct Results {
  Tensor y, stats, dx, d_weight, d_bias;
};

Results run(Backend backend, const NormCase& c) {
  Results r{Tensor::empty(c.x.shape(), c.x.dtype()), Tensor::empty({c.x.rows(), c.centred ? 2 : 1}),
            Tensor::empty(c.x.shape(), c.x.dtype()), normals({c.x.cols()}, 84),
            normals({c.x.cols()}, 85)};
  const HostBackendScope scope(backend);
  if (c.centred) {
    const LayerNormForward in{c.x, c.weight, c.bias, c.epsilon};
    layer_norm_forward(in, r.y, r.stats);
    layer_norm_backward(in, r.stats, c.dy, {r.dx, r.d_weight, r.d_bias});
  } else {
    const RmsNormForward in{c.x, c.weight, c.epsilon};
    rms_norm_forward(in, r.y, r.stats);
    rms_norm_backward(in, r.stats, c.dy, {r.dx, r.d_weight});
  }
  return r;
}

void expect_agreement(const NormCase& c, const std::string& where) {
  const Results fast = run(Backend::cpu, c), plain = run(Backend::reference, c);
  const std::string what = where + (c.centred ? " layer norm of " : " RMSNorm of ") +
                           std::to_string(c.x.rows()) + " x " + std::to_string(c.x.cols());
  // dx is a difference of terms of the size of 1 / deviation.
  double largest_inverse = 0.0;
  for (int64_t n = 0; n < c.x.rows(); ++n)
    largest_inverse = std::max<double>(largest_inverse,
                                       plain.stats.data<float>()[(n + 1) * plain.stats.cols() - 1]);
  expect_close(fast.y, plain.y, what + " y");
  expect_close(fast.dx, plain.dx, what + " dx", largest_inverse);
  expect_close(fast.d_weight, plain.d_weight, what + " d_weight", 3.0);
  expect_close(fast.d_bias, plain.d_bias, what + " d_bias", 3.0);
}

TEST(Norm, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const bool centred : {true, false})
      for (const int64_t cols : kOddSizes)
        for (const DType dtype : kFloating)
          for (const int64_t rows : {1, 7, 37})
            expect_agreement(NormCase(centred, normals({rows, cols}, 80, dtype, 2.0f)), target);
  });
}

TEST(Norm, CpuAgreesWithReferenceAtExtremeMagnitudes) {
  on_every_target([](const std::string& target) {
    for (const bool centred : {true, false})
      for (const float spread : {1e-30f, 1e-3f, 1e15f, 1e30f})
        for (const int64_t cols : {16, 255, 1000})
          expect_agreement(NormCase(centred, normals({6, cols}, 86, DType::f32, spread)), target);
  });
}

TEST(Norm, LayerNormIsPreciseWithALargeCommonOffset) {
  NormCase c(true, normals({4, 512}, 87));
  for (int64_t i = 0; i < c.x.elements(); ++i) c.x.data<float>()[i] += 1000.0f;
  const Results fast = run(Backend::cpu, c), plain = run(Backend::reference, c);
  // Both read the same rounded x (error 3e-5), but round the mean differently.
  for (int64_t i = 0; i < c.x.elements(); ++i)
    ASSERT_NEAR(fast.y.data<float>()[i], plain.y.data<float>()[i], 5e-4);
}

TEST(Norm, IsPreciseIfTheFirstElementIsAnOutlier) {
  NormCase c(true, normals({4, 512}, 93));
  for (int64_t n = 0; n < 4; ++n) c.x.data<float>()[n * 512] = n % 2 ? 300.0f : -20.0f;
  expect_agreement(c, "outlier");
}

TEST(Norm, ConstantRowsGiveTheBias) {
  for (const float value : {0.0f, 0.1f, -3.0f, 1e30f, 1e-30f}) {
    NormCase c(true, Tensor::full({2, 100}, value));
    const Results r = run(Backend::cpu, c);
    for (int64_t i = 0; i < 200; ++i) {
      ASSERT_EQ(r.y.data<float>()[i], c.bias.data<float>()[i % 100]) << value;
    }
    for (const float dx : r.dx.values<float>()) ASSERT_TRUE(std::isfinite(dx));
  }
}

TEST(Norm, LayerNormRowsHaveMeanZeroAndDeviationOne) {
  NormCase c(true, normals({5, 300}, 88, DType::f32, 40.0f));
  c.weight = Tensor::full({300}, 1.0f);
  c.bias = Tensor::zeros({300});
  const std::vector<double> y = numbers(run(Backend::cpu, c).y);
  for (size_t n = 0; n < 5; ++n) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < 300; ++i) {
      sum += y[n * 300 + i];
      squares += y[n * 300 + i] * y[n * 300 + i];
    }
    EXPECT_NEAR(sum / 300, 0.0, 1e-6);
    EXPECT_NEAR(std::sqrt(squares / 300), 1.0, 1e-5);
  }
}

TEST(Norm, NaNAffectsOnlyItsRow) {
  for (const bool centred : {true, false}) {
    NormCase c(centred, normals({2, 50}, 89));
    c.x.data<float>()[49] = std::numeric_limits<float>::quiet_NaN();
    const Results r = run(Backend::cpu, c);
    EXPECT_TRUE(std::isnan(r.y.data<float>()[0]));
    EXPECT_FALSE(std::isnan(r.y.data<float>()[50]));
  }
}

TEST(Norm, ReferenceGradientsMatchFiniteDifferences) {
  for (const bool centred : {true, false}) {
    NormCase c(centred, normals({3, 10}, 90));
    Results r = run(Backend::reference, c);
    const auto added = [](const Tensor& sum, uint64_t seed) {
      Tensor difference = normals(sum.shape(), seed);
      reference::scale(-1.0f, difference);
      reference::add_to(sum, difference);
      return difference;
    };
    const auto loss = [&] { return weighted_sum(run(Backend::reference, c).y, c.dy); };
    EXPECT_LT(gradient_error(c.x, r.dx, loss), 1e-4);
    EXPECT_LT(gradient_error(c.weight, added(r.d_weight, 84), loss), 1e-4);
    if (centred) {
      EXPECT_LT(gradient_error(c.bias, added(r.d_bias, 85), loss), 1e-4);
    }
  }
}

TEST(Norm, ARowDoesNotDependOnTheOthers) {
  for (const bool centred : {true, false}) {
    const NormCase all(centred, normals({11, 130}, 91));
    const Results batched = run(Backend::cpu, all);
    for (const int64_t n : {0, 3, 10}) {
      NormCase one = all;
      one.x = all.x.row_slice(n, n + 1);
      one.dy = all.dy.row_slice(n, n + 1);
      const Results alone = run(Backend::cpu, one);
      for (int64_t i = 0; i < 130; ++i) {
        ASSERT_EQ(alone.y.data<float>()[i], batched.y.data<float>()[n * 130 + i]);
        ASSERT_EQ(alone.dx.data<float>()[i], batched.dx.data<float>()[n * 130 + i]);
      }
    }
  }
}

TEST(Norm, DoesNotDependOnTheNumberOfThreads) {
  for (const bool centred : {true, false}) {
    const NormCase c(centred, normals({1003, 200}, 92, DType::bf16));
    expect_same_on_any_thread_count([&] {
      const Results r = run(Backend::cpu, c);
      return std::vector<Tensor>{r.y, r.stats, r.dx, r.d_weight, r.d_bias};
    });
  }
}

}  // namespace
}  // namespace heed::kernels
