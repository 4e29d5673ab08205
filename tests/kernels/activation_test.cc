#include "heed/kernels/activation.h"

#include <algorithm>
#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

constexpr Activation kActivations[] = {Activation::relu,      Activation::gelu,
                                       Activation::gelu_tanh, Activation::silu,
                                       Activation::tanh,      Activation::clamped_swiglu};

struct Results {
  Tensor y, dx, gated, d_gate, d_up;
};

/// The results of all four kernels of one backend for x, the factor `up` and the gradient `dy`.
Results run(Backend backend, Activation f, const Tensor& x, const Tensor& up, const Tensor& dy) {
  const auto empty = [&] { return Tensor::empty(x.shape(), x.dtype()); };
  Results r{empty(), empty(), empty(), empty(), empty()};
  const HostBackendScope scope(backend);
  activation_forward(f, x, r.y);
  activation_backward(f, x, dy, r.dx);
  gated_forward(f, x, up, r.gated);
  gated_backward(f, x, up, dy, {r.d_gate, r.d_up});
  return r;
}

void expect_agreement(const Tensor& x, const std::string& where) {
  const Tensor up = normals(x.shape(), 21, x.dtype()), dy = normals(x.shape(), 22, x.dtype());
  for (const Activation f : kActivations) {
    const Results fast = run(Backend::cpu, f, x, up, dy);
    const Results plain = run(Backend::reference, f, x, up, dy);
    const std::string what = where + " activation " + std::to_string(static_cast<int>(f));
    expect_close(fast.y, plain.y, what + " y", 0.1);
    expect_close(fast.dx, plain.dx, what + " dx", 0.1);
    expect_close(fast.gated, plain.gated, what + " gated", 0.1);
    expect_close(fast.d_gate, plain.d_gate, what + " d_gate", 0.1);
    expect_close(fast.d_up, plain.d_up, what + " d_up", 0.1);
  }
}

TEST(Activation, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t size : kOddSizes)
      for (const DType dtype : kFloating)
        expect_agreement(normals({size}, 20, dtype, 3.0f), target);
  });
}

TEST(Activation, CpuAgreesWithReferenceAtExtremeMagnitudes) {
  const std::vector<float> values = {0.0f,   -0.0f,   1e-30f, -1e-30f, 1e30f, -1e30f, 3e38f, -3e38f,
                                     100.0f, -100.0f, 13.0f,  -13.0f,  88.0f, -88.0f, 5e-5f, -9.0f};
  const Tensor x = Tensor::of({static_cast<int64_t>(values.size())}, values);
  for (const DType dtype : kFloating) expect_agreement(in_dtype(x, dtype), "extreme");
}

TEST(Activation, GeluIsExactToOneMillionth) {
  const int64_t count = 40001;
  Tensor x = Tensor::empty({count}), fast = Tensor::empty({count}), plain = Tensor::empty({count});
  for (int64_t i = 0; i < count; ++i) x.data<float>()[i] = static_cast<float>(i) * 5e-4f - 10.0f;
  const Tensor ones = Tensor::full({count}, 1.0f);
  const auto largest_error = [&] {
    double error = 0.0;
    for (int64_t i = 0; i < count; ++i)
      error = std::max(
          error, std::abs(static_cast<double>(fast.data<float>()[i]) - plain.data<float>()[i]) /
                     std::max(1.0, std::abs(static_cast<double>(x.data<float>()[i]))));
    return error;
  };
  on_every_target([&](const std::string& target) {
    cpu::activation_forward(Activation::gelu, x, fast);
    reference::activation_forward(Activation::gelu, x, plain);
    EXPECT_LT(largest_error(), 5e-7) << target;
    cpu::activation_backward(Activation::gelu, x, ones, fast);
    reference::activation_backward(Activation::gelu, x, ones, plain);
    EXPECT_LT(largest_error(), 1e-6) << target;
  });
}

TEST(Activation, TanhIsPreciseNearZero) {
  const int64_t count = 20000;
  Tensor x = Tensor::empty({count}), y = Tensor::empty({count});
  for (int64_t i = 0; i < count; ++i)
    x.data<float>()[i] = (i % 2 ? 1e-6f : -1e-6f) * std::pow(1.0008f, static_cast<float>(i));
  on_every_target([&](const std::string& target) {
    cpu::activation_forward(Activation::tanh, x, y);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_NEAR(y.data<float>()[i] / std::tanh(static_cast<double>(x.data<float>()[i])), 1.0,
                  3e-7)
          << target << ", x = " << x.data<float>()[i];
  });
}

TEST(Activation, KnownValues) {
  const Tensor x = Tensor::of({3}, std::vector<float>{-1.0f, 0.0f, 2.0f});
  const auto expect = [&](Activation f, std::vector<double> expected) {
    Tensor y = Tensor::empty({3});
    cpu::activation_forward(f, x, y);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(y.values<float>()[i], expected[i], 1e-6);
  };
  expect(Activation::relu, {0, 0, 2});
  expect(Activation::gelu, {-0.15865526, 0, 1.95449974});
  expect(Activation::gelu_tanh, {-0.15880801, 0, 1.95459769});
  expect(Activation::silu, {-0.26894142, 0, 1.76159416});
  expect(Activation::tanh, {-0.76159416, 0, 0.96402758});
}

TEST(Activation, NaNPropagates) {
  const Tensor x = Tensor::full({5}, std::numeric_limits<float>::quiet_NaN());
  const Tensor ones = Tensor::full({5}, 1.0f);
  for (const Activation f : kActivations)
    for (const Backend backend : {Backend::cpu, Backend::reference}) {
      const Results r = run(backend, f, x, ones, ones);
      EXPECT_TRUE(std::isnan(r.y.data<float>()[0]));
      EXPECT_TRUE(std::isnan(r.d_up.data<float>()[4]));
    }
}

TEST(Activation, ReferenceGradientsMatchFiniteDifferences) {
  Tensor x = normals({64}, 23), up = normals({64}, 24);
  const Tensor dy = normals({64}, 25);
  // relu has no derivative at 0.
  for (int64_t i = 0; i < 64; ++i) x.data<float>()[i] += x.data<float>()[i] < 0 ? -0.1f : 0.1f;
  for (const Activation f : kActivations) {
    const Results r = run(Backend::reference, f, x, up, dy);
    Tensor y = Tensor::empty(x.shape());
    const auto plain = [&] {
      reference::activation_forward(f, x, y);
      return weighted_sum(y, dy);
    };
    const auto gated = [&] {
      reference::gated_forward(f, x, up, y);
      return weighted_sum(y, dy);
    };
    EXPECT_LT(gradient_error(x, r.dx, plain), 1e-4);
    EXPECT_LT(gradient_error(x, r.d_gate, gated), 1e-4);
    EXPECT_LT(gradient_error(up, r.d_up, gated), 1e-4);
  }
}

TEST(Activation, GradientMayOverwriteItsInput) {
  const Tensor x = normals({100}, 26), dy = normals({100}, 27);
  Tensor apart = Tensor::empty({100}), in_place = dy.clone();
  cpu::activation_backward(Activation::silu, x, dy, apart);
  cpu::activation_backward(Activation::silu, x, in_place, in_place);
  expect_close(in_place, apart, "in place", 0.0);
}

TEST(Activation, DoesNotDependOnTheNumberOfThreads) {
  const Tensor x = normals({300, 500}, 28, DType::bf16), dy = normals({300, 500}, 29, DType::bf16);
  expect_same_on_any_thread_count([&] {
    const Results r = run(Backend::cpu, Activation::gelu, x, dy, dy);
    return std::vector<Tensor>{r.y, r.dx, r.gated, r.d_gate, r.d_up};
  });
}

}  // namespace
}  // namespace heed::kernels
