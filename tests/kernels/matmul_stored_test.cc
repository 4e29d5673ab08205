#include "heed/kernels/matmul_stored.h"

#include <limits>

#include "heed/kernels/matmul.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

Tensor stored_product(const Tensor& a, const Tensor& weight, const Tensor& bias = {},
                      DType out = DType::f32) {
  Tensor c = Tensor::empty({a.rows(), weight.rows()}, out);
  cpu::matmul_stored(a, weight, bias, c);
  return c;
}

/// Calls body with weights of every type; plain types also with widths that are not whole blocks.
void for_stored_weights(int64_t n, const std::function<void(const Tensor&)>& body) {
  for (const DType dtype : kStored) {
    body(random_stored({n, 256}, dtype, 2));
    body(random_stored({n, 1536}, dtype, 3));
    if (672 % block_elements(dtype) == 0) body(random_stored({n, 672}, dtype, 4));
    if (is_plain(dtype)) body(random_stored({n, 45}, dtype, 5));
  }
}

TEST(MatmulStored, AgreesWithTheReference) {
  on_every_target([](const std::string& target) {
    for_stored_weights(39, [&](const Tensor& weight) {
      for (const int64_t m : {1, 2, 7, 20})
        for (const DType in : kFloating)
          for (const DType out : kFloating) {
            const Tensor a = normals({m, weight.cols()}, 1, in);
            const Tensor bias = normals({39}, 6);
            Tensor plain = Tensor::empty({m, 39}, out);
            reference::matmul_stored(a, weight, bias, plain);
            expect_close(
                stored_product(a, weight, bias, out), plain,
                fmt::format("{} {} {} by {}", target, m, name_of(in), name_of(weight.dtype())),
                50.0);
          }
    });
  });
}

TEST(MatmulStored, EqualsTheProductWithTheDequantisedWeight) {
  for_stored_weights(20, [&](const Tensor& weight) {
    Tensor wide = Tensor::empty(weight.shape());
    reference::dequantize(weight, wide);
    for (const int64_t m : {1, 9}) {
      const Tensor a = normals({m, weight.cols()}, 1);
      EXPECT_TRUE(same_bits(stored_product(a, weight), stored_product(a, wide)))
          << name_of(weight.dtype());
    }
  });
}

TEST(MatmulStored, ARowDoesNotDependOnTheOthers) {
  on_every_target([](const std::string& target) {
    for_stored_weights(37, [&](const Tensor& weight) {
      const Tensor a = normals({300, weight.cols()}, 1), bias = normals({37}, 6);
      const Tensor all = stored_product(a, weight, bias);
      for (const int64_t rows : {1, 2, 5, 6, 130})
        for (const int64_t first : {0, 5, 126, 170})
          EXPECT_TRUE(same_bits(stored_product(a.row_slice(first, first + rows), weight, bias),
                                all.row_slice(first, first + rows)))
              << target << " " << name_of(weight.dtype()) << " " << rows << " from " << first;
    });
  });
}

TEST(MatmulStored, AColumnDoesNotDependOnTheOthers) {
  for_stored_weights(70, [&](const Tensor& weight) {
    for (const int64_t m : {1, 8}) {
      const Tensor a = normals({m, weight.cols()}, 1);
      const Tensor all = stored_product(a, weight);
      for (const int64_t col : {0, 31, 33, 69}) {
        const Tensor one = stored_product(a, weight.row_slice(col, col + 1));
        for (int64_t row = 0; row < m; ++row)
          EXPECT_EQ(one.data<float>()[row], all.data<float>()[row * 70 + col])
              << name_of(weight.dtype());
      }
    }
  });
}

TEST(MatmulStored, DoesNotDependOnTheNumberOfThreads) {
  expect_same_on_any_thread_count([] {
    std::vector<Tensor> results;
    for (const DType dtype : kStored)
      for (const int64_t m : {1, 3, 200}) {
        const Tensor weight = random_stored({1000, 768}, dtype, 2);
        results.push_back(stored_product(normals({m, 768}, 1), weight));
      }
    return results;
  });
}

TEST(MatmulStored, AgreesWithMatmul) {
  const Tensor a = normals({33, 300}, 1), weight = normals({50, 300}, 2), bias = normals({50}, 3);
  Tensor plain = Tensor::empty({33, 50});
  reference::matmul({a}, {weight, true}, {.bias = bias}, plain);
  expect_close(stored_product(a, weight, bias), plain, "f32", 30.0);
}

TEST(MatmulStored, EmptySizesAreDefined) {
  for (const int64_t m : {0, 1, 5}) {
    const Tensor bias = normals({6}, 3);
    const Tensor c =
        stored_product(Tensor::empty({m, 0}), Tensor::empty({6, 0}, DType::q8_0), bias);
    for (int64_t i = 0; i < c.elements(); ++i)
      EXPECT_EQ(c.data<float>()[i], bias.data<float>()[i % 6]);
    EXPECT_EQ(stored_product(normals({m, 32}, 1), Tensor::empty({0, 32}, DType::q4_0)).elements(),
              0);
  }
}

TEST(MatmulStored, NaNStaysInItsRowOrColumn) {
  Tensor a = normals({9, 64}, 1);
  a.data<float>()[4 * 64 + 63] = std::numeric_limits<float>::quiet_NaN();
  Tensor weight = random_stored({10, 64}, DType::q8_0, 2);
  weight.data<BlockQ8_0>()[2 * 3].scale = float16(std::numeric_limits<float>::infinity());
  weight.data<BlockQ8_0>()[2 * 3].quants[0] = 0;
  const Tensor c = stored_product(a, weight);
  for (int64_t i = 0; i < c.elements(); ++i)
    EXPECT_EQ(std::isnan(c.data<float>()[i]), i / 10 == 4 || i % 10 == 3) << i;
}

TEST(MatmulStored, RefusesOtherTypes) {
  expect_error(
      [] {
        stored_product(Tensor::zeros({2, 32}), Tensor::zeros({4, 32}, DType::i32));
      },
      "found i32");
  expect_error(
      [] {
        stored_product(Tensor::zeros({2, 32}, DType::f16), Tensor::zeros({4, 32}, DType::f16));
      },
      "found f16");
}

}  // namespace
}  // namespace heed::kernels
