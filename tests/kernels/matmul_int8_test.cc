#include "heed/kernels/matmul_int8.h"

#include <array>
#include <atomic>
#include <limits>

#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/matmul_stored.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

/// Calls run(name) with every kernel of this machine on every Highway target.
void with_every_int8_kernel(const std::function<void(const std::string&)>& run) {
  for (const cpu::Int8Kernel* kernel : cpu::int8_kernels()) {
    cpu::force_int8_kernel(kernel);
    on_every_target([&](const std::string& target) { run(kernel->name + (" " + target)); });
  }
  cpu::force_int8_kernel(nullptr);
}

Tensor int8_product(const Tensor& a, const Tensor& weight, const Tensor& bias = {},
                    DType out = DType::f32) {
  Tensor c = Tensor::empty({a.rows(), weight.rows()}, out);
  matmul_int8(a, pack_int8(weight), bias, c);
  return c;
}

Tensor plain_int8_product(const Tensor& a, const Tensor& weight, const Tensor& bias = {},
                          DType out = DType::f32) {
  Tensor c = Tensor::empty({a.rows(), weight.rows()}, out);
  const PackedInt8 packed = reference::pack_int8(weight);
  reference::matmul_int8_grouped(a, std::array{Int8Product{&packed, &bias, &c}});
  return c;
}

TEST(MatmulInt8, HasTheBitsOfTheReference) {
  const Tensor bias = normals({75}, 6);
  for (const int64_t k : {1, 31, 64, 100, 700}) {
    const Tensor weight = normals({75, k}, 2);
    for (const int64_t m : {1, 2, 7, 15, 16, 17, 40})
      for (const DType in : kFloating) {
        const Tensor a = normals({m, k}, 1, in);
        const Tensor plain = plain_int8_product(a, weight, bias);
        const Tensor rounded = plain_int8_product(a, weight, {}, DType::bf16);
        with_every_int8_kernel([&](const std::string& name) {
          EXPECT_TRUE(same_bits(int8_product(a, weight, bias), plain))
              << name << " " << m << " " << name_of(in) << " " << k;
          EXPECT_TRUE(same_bits(int8_product(a, weight, {}, DType::bf16), rounded))
              << name << " " << m << " " << name_of(in) << " " << k;
        });
      }
  }
}

TEST(MatmulInt8, TakesEveryStoredType) {
  const Tensor a = normals({9, 512}, 1);
  for (const DType dtype : kStored) {
    const Tensor weight = random_stored({40, 512}, dtype, 2);
    EXPECT_TRUE(same_bits(int8_product(a, weight), plain_int8_product(a, weight)))
        << name_of(dtype);
  }
}

TEST(MatmulInt8, IsNearTheExactProduct) {
  const Tensor a = normals({9, 768}, 1), weight = normals({20, 768}, 2);
  const std::vector<double> found = numbers(int8_product(a, weight));
  Tensor exact = Tensor::empty({9, 20});
  reference::matmul_stored(a, weight, {}, exact);
  double error = 0.0, length = 0.0;
  for (size_t i = 0; i < found.size(); ++i) {
    error += std::pow(found[i] - numbers(exact)[i], 2.0);
    length += std::pow(numbers(exact)[i], 2.0);
  }
  // Rounding errors of both factors are at most half of 1/127 of a row's maximum, about 3
  // deviations.
  EXPECT_LT(std::sqrt(error / length), 0.012);
}

TEST(MatmulInt8, ExtremeIntegersAreExact) {
  for (const float sign : {1.0f, -1.0f})
    for (const int64_t k : {64, 70000}) {
      const Tensor a = Tensor::full({20, k}, 2.0f), weight = Tensor::full({33, k}, sign);
      const Tensor plain = plain_int8_product(a, weight);
      with_every_int8_kernel([&](const std::string& name) {
        EXPECT_TRUE(same_bits(int8_product(a, weight), plain)) << name << " " << k;
      });
    }
}

TEST(MatmulInt8, TheLongestRowsAreExact) {
  for (const float first : {127.0f, -127.0f}) {
    Tensor a = Tensor::full({5, kMaxInt8Cols}, first),
           weight = Tensor::full({33, kMaxInt8Cols}, 127.0f);
    for (int64_t k = kMaxInt8Cols / 2; k < kMaxInt8Cols; ++k) weight.data<float>()[k] = -127.0f;
    with_every_int8_kernel([&](const std::string& name) {
      const Tensor c = int8_product(a, weight);
      for (int64_t i = 0; i < c.elements(); ++i)
        EXPECT_EQ(c.data<float>()[i], i % 33 ? first * 127.0f * kMaxInt8Cols : 0.0f)
            << name << " " << i;
    });
  }
}

TEST(MatmulInt8, SeveralPassesOverRowsHaveTheBitsOfTheReference) {
  const Tensor a = normals({250, 5000}, 1), weight = normals({40, 5000}, 2),
               bias = normals({40}, 6);
  const PackedInt8 packed = cpu::pack_int8(weight), plain = reference::pack_int8(weight);
  for (const DType out : kFloating) {
    std::vector<Tensor> found, expected;
    for (int i = 0; i < 3; ++i) {
      found.push_back(Tensor::empty({250, 40}, out));
      expected.push_back(found.back().clone());
    }
    std::vector<Int8Product> products, plain_products;
    for (size_t i = 0; i < found.size(); ++i) {
      products.push_back({&packed, &bias, &found[i]});
      plain_products.push_back({&plain, &bias, &expected[i]});
    }
    matmul_int8_grouped(a, products);
    reference::matmul_int8_grouped(a, std::span(plain_products).first(1));
    for (const Tensor& c : found) EXPECT_TRUE(same_bits(c, expected[0])) << name_of(out);
  }
}

TEST(MatmulInt8, ThreadsShareASingleRow) {
  static std::atomic<int> begins;
  cpu::Int8Kernel counting = cpu::plain_int8_kernel;
  counting.begin = [](int64_t) { ++begins; };
  cpu::force_int8_kernel(&counting);
  begins = 0;
  {
    const Threads two(2);
    int8_product(normals({1, 512}, 1), normals({512, 512}, 2));
  }
  cpu::force_int8_kernel(nullptr);
  EXPECT_GE(begins, 2);
}

TEST(MatmulInt8, WorksInsideAParallelRegion) {
  const Tensor a = normals({8, 300}, 1), weight = normals({100, 300}, 2);
  const Tensor expected = int8_product(a, weight);
  std::vector<Tensor> found(40);
  parallel_for(40, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) found[static_cast<size_t>(i)] = int8_product(a, weight);
  });
  for (const Tensor& c : found) EXPECT_TRUE(same_bits(c, expected));
}

TEST(MatmulInt8, ARowDoesNotDependOnTheOthers) {
  const Tensor weight = normals({100, 300}, 2), bias = normals({100}, 6),
               a = normals({300, 300}, 1);
  const Tensor all = int8_product(a, weight, bias);
  for (const int64_t rows : {1, 2, 9, 16, 33, 100, 270})
    for (const int64_t first : {0, 5, 30})
      EXPECT_TRUE(same_bits(int8_product(a.row_slice(first, first + rows), weight, bias),
                            all.row_slice(first, first + rows)))
          << rows << " from " << first;
}

TEST(MatmulInt8, DoesNotDependOnTheNumberOfThreads) {
  expect_same_on_any_thread_count([] {
    std::vector<Tensor> results;
    for (const int64_t m : {1, 3, 50, 400})
      results.push_back(int8_product(normals({m, 768}, 1), normals({1000, 768}, 2)));
    return results;
  });
}

TEST(MatmulInt8, GroupedProductsEqualSingleOnes) {
  const Tensor bias = normals({70}, 6), none;
  with_every_int8_kernel([&](const std::string& name) {
    for (const int64_t m : {0, 1, 3, 20, 300}) {
      const Tensor a = normals({m, 96}, 1);
      std::vector<PackedInt8> weights;
      std::vector<Tensor> found, expected;
      for (const int64_t n : {40, 70, 340}) {
        const Tensor weight = normals({n, 96}, static_cast<uint64_t>(n));
        weights.push_back(cpu::pack_int8(weight));
        found.push_back(Tensor::empty({m, n}));
        expected.push_back(int8_product(a, weight, n == 70 ? bias : none));
      }
      std::vector<Int8Product> products;
      for (size_t i = 0; i < weights.size(); ++i)
        products.push_back({&weights[i], i == 1 ? &bias : &none, &found[i]});
      matmul_int8_grouped(a, products);
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(same_bits(found[i], expected[i])) << name << " " << m << " " << i;
    }
  });
}

TEST(MatmulInt8, EmptySizesAreDefined) {
  for (const int64_t m : {0, 1, 20}) {
    const Tensor bias = normals({6}, 3);
    const Tensor c = int8_product(Tensor::empty({m, 0}), Tensor::empty({6, 0}), bias);
    for (int64_t i = 0; i < c.elements(); ++i)
      EXPECT_EQ(c.data<float>()[i], bias.data<float>()[i % 6]);
    EXPECT_EQ(int8_product(normals({m, 64}, 1), Tensor::empty({0, 64})).elements(), 0);
  }
}

TEST(MatmulInt8, NaNAndInfinityStayInTheirRowOrColumn) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    Tensor a = normals({21, 70}, 1), weight = normals({10, 70}, 2);
    a.data<float>()[4 * 70 + 69] = wrong;
    weight.data<float>()[3 * 70 + 5] = wrong;
    with_every_int8_kernel([&](const std::string& name) {
      const Tensor c = int8_product(a, weight);
      for (int64_t i = 0; i < c.elements(); ++i)
        EXPECT_EQ(std::isnan(c.data<float>()[i]), i / 10 == 4 || i % 10 == 3) << name << " " << i;
    });
    for (int64_t i = 0; i < 210; ++i)
      EXPECT_EQ(std::isnan(plain_int8_product(a, weight).data<float>()[i]),
                i / 10 == 4 || i % 10 == 3);
  }
}

TEST(MatmulInt8, ZerosAndTheSmallestNumbersAreFinite) {
  const Tensor weight = normals({16, 256}, 2);
  for (const float value : {0.0f, std::numeric_limits<float>::denorm_min(), 1e-38f, 3e38f}) {
    const Tensor a = Tensor::full({3, 256}, value), plain = plain_int8_product(a, weight);
    with_every_int8_kernel([&](const std::string& name) {
      EXPECT_TRUE(same_bits(int8_product(a, weight), plain)) << name << " " << value;
    });
    for (const double element : numbers(plain)) EXPECT_FALSE(std::isnan(element)) << value;
  }
}

TEST(MatmulInt8, RefusesOtherTypesAndTooLongRows) {
  const Tensor weight = normals({4, 32}, 1);
  expect_error([] { cpu::pack_int8(Tensor::empty({1, kMaxInt8Cols + 1})); }, "131073 columns");
  expect_error([] { cpu::pack_int8(Tensor::empty({4, 32}, DType::i32)); }, "found i32");
  expect_error([&] { int8_product(Tensor::zeros({2, 32}, DType::f16), weight); }, "found f16");
  Tensor c = Tensor::empty({2, 4});
  const Tensor a = normals({2, 32}, 1), none;
  const PackedInt8 fast = cpu::pack_int8(weight), plain = reference::pack_int8(weight);
  expect_error(
      [&] {
        cpu::matmul_int8_grouped(a, std::array{Int8Product{&plain, &none, &c}});
      },
      "packed by the reference");
  expect_error(
      [&] {
        reference::matmul_int8_grouped(a, std::array{Int8Product{&fast, &none, &c}});
      },
      "packed by the cpu");
}

}  // namespace
}  // namespace heed::kernels
