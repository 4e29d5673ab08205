#include "heed/kernels/matmul.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <future>
#include <limits>

#include "heed/base/random.h"
#include "heed/kernels/cpu/gemm/kernels.h"
#include "heed/kernels/testing.h"
#include "tests/base/threads.h"

namespace heed::kernels {
namespace {

constexpr DType kDTypes[] = {DType::f32, DType::bf16};

/// Normal numbers times `scale`.
Tensor random_matrix(int64_t rows, int64_t cols, DType dtype, uint64_t seed, double scale = 1) {
  Tensor matrix = Tensor::empty({rows, cols}, dtype);
  const CounterRandom random(seed);
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < matrix.elements(); ++i)
      matrix.data<T>()[i] = T(static_cast<float>(scale * random.normal(static_cast<uint64_t>(i))));
  });
  return matrix;
}

/// The matrix of a factor [rows, cols], transposed or not.
Tensor random_factor(int64_t rows, int64_t cols, bool transposed, DType dtype, uint64_t seed) {
  return transposed ? random_matrix(cols, rows, dtype, seed)
                    : random_matrix(rows, cols, dtype, seed);
}

double at(const Tensor& x, int64_t i) {
  return visit_floating(x.dtype(), [&](auto zero) {
    return static_cast<double>(static_cast<float>(x.data<decltype(zero)>()[i]));
  });
}

Tensor magnitudes(const Tensor& x) {
  Tensor result = Tensor::empty(x.shape());
  for (int64_t i = 0; i < x.elements(); ++i)
    result.data<float>()[i] = static_cast<float>(std::fabs(at(x, i)));
  return result;
}

/// Runs `body` with every micro-kernel of this machine for each dtype, and f32 on every Highway
/// target.
void with_every_kernel(const std::function<void(DType)>& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const DType dtype : kDTypes) {
      SCOPED_TRACE(::testing::Message()
                   << name_of(dtype) << " by f32, " << hwy::TargetName(target));
      cpu::force_kernel(dtype, &cpu::f32_kernel());
      body(dtype);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  cpu::force_kernel(DType::f32, nullptr);
  for (const DType dtype : kDTypes) {
    for (const cpu::MicroKernel* kernel : cpu::kernels_for(dtype)) {
      SCOPED_TRACE(::testing::Message() << name_of(dtype) << " by " << kernel->name);
      cpu::force_kernel(dtype, kernel);
      body(dtype);
    }
    cpu::force_kernel(dtype, nullptr);
  }
}

struct Case {
  int64_t m, k, n;
  bool a_transposed = false, b_transposed = false, accumulate = false, bias = false;
  DType out = DType::f32;
};

/// The product by the cpu kernels, packed and unpacked, and by the reference.
void check(const Case& t, DType in) {
  SCOPED_TRACE(::testing::Message()
               << t.m << "x" << t.k << "x" << t.n << (t.a_transposed ? " aT" : "")
               << (t.b_transposed ? " bT" : "") << (t.accumulate ? " accumulate" : "")
               << (t.bias ? " bias" : "") << " to " << name_of(t.out));
  const Tensor a = random_factor(t.m, t.k, t.a_transposed, in, 1);
  const Tensor b = random_factor(t.k, t.n, t.b_transposed, in, 2);
  const Tensor before = random_matrix(t.m, t.n, t.out, 3);
  MatmulOptions options{.accumulate = t.accumulate};
  if (t.bias) options.bias = random_matrix(1, t.n, DType::f32, 4).reshaped({t.n});
  const Factor fa{a, t.a_transposed}, fb{b, t.b_transposed};
  Tensor fast = before.clone(), plain = before.clone();
  cpu::matmul(fa, fb, options, fast);
  reference::matmul(fa, fb, options, plain);

  // The rounding error of a sum is in proportion to the sum of magnitudes.
  Tensor bound = magnitudes(before);
  const Tensor abs_a = magnitudes(a), abs_b = magnitudes(b);
  MatmulOptions abs_options{.accumulate = t.accumulate};
  if (t.bias) abs_options.bias = magnitudes(options.bias);
  reference::matmul({abs_a, t.a_transposed}, {abs_b, t.b_transposed}, abs_options, bound);
  for (int64_t i = 0; i < plain.elements(); ++i) {
    const double rounding = t.out == DType::bf16 ? std::fabs(at(plain, i)) / 128 : 0.0;
    ASSERT_NEAR(at(fast, i), at(plain, i), 1e-6 * at(bound, i) + rounding) << "element " << i;
  }

  if (t.a_transposed) return;
  Tensor packed = before.clone();
  cpu::matmul_packed(a, cpu::pack(fb), options, packed);
  EXPECT_TRUE(same_bits(packed, fast)) << "packed";
}

TEST(Matmul, AgreesWithTheReferenceInAllLayouts) {
  const int64_t shapes[][3] = {{1, 1, 1},    {1, 17, 33},  {3, 5, 2},    {14, 32, 32},
                               {15, 31, 65}, {17, 64, 16}, {33, 65, 47}, {64, 129, 96},
                               {49, 40, 17}, {129, 3, 129}};
  with_every_kernel([&](DType in) {
    for (const auto& [m, k, n] : shapes)
      for (const DType out : kDTypes)
        for (int form = 0; form < 16; ++form)
          check({m, k, n, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0, (form & 8) != 0, out},
                in);
  });
}

TEST(Matmul, AgreesWithTheReferenceOverSeveralPassesOfK) {
  with_every_kernel([&](DType in) {
    for (const int64_t k : {513, 1100})
      for (const DType out : kDTypes)
        for (int form = 0; form < 16; ++form)
          check(
              {19, k, 37, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0, (form & 8) != 0, out},
              in);
  });
}

TEST(Matmul, EmptySizesAreDefined) {
  with_every_kernel([&](DType in) {
    for (const DType out : kDTypes) {
      check({.m = 0, .k = 5, .n = 4, .bias = true, .out = out}, in);
      check({.m = 4, .k = 5, .n = 0, .bias = true, .out = out}, in);
      for (int form = 0; form < 4; ++form)
        check({.m = 3,
               .k = 0,
               .n = 40,
               .accumulate = (form & 1) != 0,
               .bias = (form & 2) != 0,
               .out = out},
              in);
    }
  });
}

TEST(Matmul, ExtremeMagnitudesNeitherOverflowNorUnderflow) {
  with_every_kernel([&](DType in) {
    for (const double scale : {1e18, 1e-18}) {
      const Tensor a = random_matrix(20, 70, in, 1, scale), b = random_matrix(70, 40, in, 2);
      Tensor fast = Tensor::empty({20, 40}), plain = Tensor::empty({20, 40});
      cpu::matmul({a}, {b}, {}, fast);
      reference::matmul({a}, {b}, {}, plain);
      for (int64_t i = 0; i < plain.elements(); ++i)
        ASSERT_NEAR(at(fast, i), at(plain, i), 1e-4 * scale) << "element " << i;
    }
  });
}

TEST(Matmul, NaNStaysInItsRow) {
  with_every_kernel([&](DType in) {
    Tensor a = random_matrix(40, 45, in, 1);
    const Tensor b = random_matrix(45, 50, in, 2);
    visit_floating(in, [&](auto zero) {
      using T = decltype(zero);
      a.data<T>()[17 * 45 + 44] = T(std::numeric_limits<float>::quiet_NaN());
    });
    for (const DType out : kDTypes) {
      Tensor c = Tensor::empty({40, 50}, out);
      cpu::matmul({a}, {b}, {}, c);
      for (int64_t i = 0; i < c.elements(); ++i)
        ASSERT_EQ(std::isnan(at(c, i)), i / 50 == 17) << "element " << i;
    }
  });
}

TEST(Matmul, SmallIntegersAreExact) {
  with_every_kernel([&](DType in) {
    const auto integers = [&](int64_t rows, int64_t cols, uint64_t seed) {
      Tensor x = random_matrix(rows, cols, in, seed, 3);
      visit_floating(in, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = 0; i < x.elements(); ++i)
          x.data<T>()[i] = T(std::nearbyint(static_cast<float>(x.data<T>()[i])));
      });
      return x;
    };
    for (int form = 0; form < 4; ++form) {
      const bool ta = (form & 1) != 0, tb = (form & 2) != 0;
      const Tensor a = ta ? integers(600, 70, 1) : integers(70, 600, 1);
      const Tensor b = tb ? integers(90, 600, 2) : integers(600, 90, 2);
      Tensor fast = Tensor::empty({70, 90}), plain = Tensor::empty({70, 90});
      cpu::matmul({a, ta}, {b, tb}, {}, fast);
      reference::matmul({a, ta}, {b, tb}, {}, plain);
      EXPECT_TRUE(same_bits(fast, plain)) << "form " << form;
    }
  });
}

TEST(Matmul, ARowDoesNotDependOnTheOthers) {
  with_every_kernel([&](DType in) {
    const int64_t m = 75, k = 1030, n = 130;
    const Tensor a = random_matrix(m, k, in, 1), b = random_matrix(k, n, in, 2);
    const PackedMatrix packed = cpu::pack({b});
    for (const DType out : kDTypes) {
      Tensor all = Tensor::empty({m, n}, out);
      cpu::matmul({a}, {b}, {}, all);
      for (const int64_t rows : {1, 2, 13, 16, 17, 31, 33})
        for (const int64_t first : {0, 13, 14, 31, 42}) {
          Tensor some = Tensor::empty({rows, n}, out);
          cpu::matmul_packed(a.row_slice(first, first + rows), packed, {}, some);
          EXPECT_TRUE(same_bits(some, all.row_slice(first, first + rows)))
              << rows << " rows from " << first;
        }
    }
  });
}

TEST(Matmul, ASubnormalRowDoesNotDependOnTheOthers) {
  with_every_kernel([&](DType in) {
    const int64_t m = 18, k = 130, n = 70;
    for (const double scale : {1e-19, 1e-38}) {  // products, or factors as well, are subnormal
      const Tensor a = random_matrix(m, k, in, 1, scale), b = random_matrix(k, n, in, 2, 1e-19);
      Tensor all = Tensor::empty({m, n}), one = Tensor::empty({1, n});
      cpu::matmul({a}, {b}, {}, all);
      cpu::matmul_packed(a.row_slice(17, 18), cpu::pack({b}), {}, one);
      EXPECT_TRUE(same_bits(one, all.row_slice(17, 18))) << "scale " << scale;
    }
  });
}

TEST(Matmul, AColumnDoesNotDependOnTheOthers) {
  with_every_kernel([&](DType in) {
    const int64_t m = 35, k = 530, n = 100;
    const Tensor a = random_matrix(m, k, in, 1), b = random_matrix(n, k, in, 2);
    const Tensor bias = random_matrix(1, n, DType::f32, 3).reshaped({n});
    for (const DType out : kDTypes) {
      Tensor all = Tensor::empty({m, n}, out);
      cpu::matmul({a}, {b, true}, {.bias = bias}, all);
      for (const int64_t col : {0, 31, 32, 63, 99}) {
        Tensor one = Tensor::empty({m, 1}, out);
        cpu::matmul({a}, {b.row_slice(col, col + 1), true},
                    {.bias = bias.reshaped({n, 1}).row_slice(col, col + 1)}, one);
        for (int64_t row = 0; row < m; ++row)
          ASSERT_EQ(at(one, row), at(all, row * n + col)) << row << ", " << col;
      }
    }
  });
}

TEST(Matmul, TransposedFactorsGiveTheSameBits) {
  with_every_kernel([&](DType in) {
    const int64_t m = 61, k = 700, n = 77;
    const Tensor a = random_matrix(m, k, in, 1), b = random_matrix(k, n, in, 2);
    const auto transpose = [](const Tensor& x) {
      Tensor y = Tensor::empty({x.cols(), x.rows()}, x.dtype());
      visit_floating(x.dtype(), [&](auto zero) {
        using T = decltype(zero);
        for (int64_t i = 0; i < x.rows(); ++i)
          for (int64_t j = 0; j < x.cols(); ++j)
            y.data<T>()[j * x.rows() + i] = x.data<T>()[i * x.cols() + j];
      });
      return y;
    };
    const Tensor at = transpose(a), bt = transpose(b);
    Tensor plain = Tensor::empty({m, n}), transposed = Tensor::empty({m, n});
    cpu::matmul({a}, {b}, {}, plain);
    cpu::matmul({at, true}, {bt, true}, {}, transposed);
    EXPECT_TRUE(same_bits(plain, transposed));
  });
}

TEST(Matmul, DoesNotDependOnTheNumberOfThreads) {
  for (const DType in : kDTypes)
    for (const auto& [m, n] : {std::pair{700, 500}, {1200, 96}, {20, 3000}}) {
      const Tensor a = random_matrix(m, 600, in, 1), b = random_matrix(600, n, in, 2);
      Tensor one = Tensor::empty({m, n});
      {
        const Threads alone(1);
        cpu::matmul({a}, {b}, {}, one);
      }
      for (const int count : {2, 3, 7}) {
        const Threads set(count);
        Tensor many = Tensor::empty({m, n});
        cpu::matmul({a}, {b}, {}, many);
        EXPECT_TRUE(same_bits(one, many)) << m << "x" << n << " on " << count << " threads";
      }
    }
}

TEST(Matmul, CallersThatComputeAtOnceGetTheSameBits) {
  Executor executor(3);
  for (const DType in : kDTypes) {
    const Tensor a = random_matrix(300, 200, in, 1), b = random_matrix(200, 400, in, 2);
    Tensor alone = Tensor::empty({300, 400});
    cpu::matmul({a}, {b}, {}, alone);
    const auto multiply = [&] {
      const ExecutorScope scope(executor);
      int wrong = 0;
      for (int turn = 0; turn < 20; ++turn) {
        Tensor c = Tensor::empty({300, 400});
        cpu::matmul({a}, {b}, {}, c);
        wrong += !same_bits(c, alone);
      }
      return wrong;
    };
    std::vector<std::future<int>> callers;
    for (int i = 0; i < 4; ++i) callers.push_back(std::async(std::launch::async, multiply));
    for (auto& caller : callers) EXPECT_EQ(caller.get(), 0) << name_of(in);
  }
}

/// The root mean square of the errors of c = a b, each relative to its sum of magnitudes.
double relative_error(const Tensor& a, const Tensor& b, const Tensor& c) {
  double errors = 0, magnitudes = 0;
  for (int64_t row = 0; row < a.rows(); ++row)
    for (int64_t col = 0; col < b.cols(); ++col) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < a.cols(); ++k) {
        const double product = at(a, row * a.cols() + k) * at(b, k * b.cols() + col);
        sum += product;
        magnitude += std::fabs(product);
      }
      errors += std::pow(at(c, row * b.cols() + col) - sum, 2);
      magnitudes += magnitude * magnitude;
    }
  return std::sqrt(errors / magnitudes);
}

TEST(Matmul, EveryF32KernelHasThePrecisionOfF32) {
  for (const cpu::MicroKernel* kernel : cpu::kernels_for(DType::f32)) {
    cpu::force_kernel(DType::f32, kernel);
    for (const int64_t k : {1, 8, 64, 1000}) {
      const Tensor a = random_matrix(40, k, DType::f32, 1), b = random_matrix(k, 40, DType::f32, 2);
      Tensor c = Tensor::empty({40, 40});
      cpu::matmul({a}, {b}, {}, c);
      EXPECT_LT(relative_error(a, b, c), 0x1p-24) << kernel->name << ", k = " << k;
    }
  }
  cpu::force_kernel(DType::f32, nullptr);
}

TEST(Matmul, APackedWeightIsNotLarger) {
  for (const DType dtype : kDTypes)
    for (const cpu::MicroKernel* kernel : cpu::kernels_for(dtype)) {
      cpu::force_kernel(dtype, kernel);
      const Tensor weight = random_matrix(192, 256, dtype, 1);
      const PackedMatrix packed = cpu::pack({weight, true});
      EXPECT_EQ(packed.panels.bytes(), weight.elements() * size_of(packed.panels.dtype()))
          << kernel->name;
      cpu::force_kernel(dtype, nullptr);
    }
}

TEST(Matmul, RefusesMixedOperands) {
  const Tensor a = random_matrix(2, 3, DType::f32, 1), b = random_matrix(3, 4, DType::bf16, 2);
  Tensor c = Tensor::empty({2, 4});
  EXPECT_THROW(cpu::matmul({a}, {b}, {}, c), Error);
  EXPECT_THROW(cpu::matmul_packed(a, reference::pack({b}), {}, c), Error);
  EXPECT_THROW(reference::matmul_packed(a, cpu::pack({b}), {}, c), Error);
  const PackedMatrix packed = cpu::pack({b});
  if (packed.panels.dtype() == DType::bf16) {
    EXPECT_THROW(cpu::matmul_packed(a, packed, {}, c), Error);
  }
}

}  // namespace
}  // namespace heed::kernels
