#include "heed/kernels/matmul_blocks.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/matmul_stored.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

/// Calls run(name) with every kernel of this machine, then with the fastest on every Highway
/// target.
void with_every_kernel(const std::function<void(const std::string&)>& run) {
  for (const cpu::BlockKernel* kernel : cpu::block_kernels()) {
    cpu::force_block_kernel(kernel);
    run(kernel->name);
  }
  cpu::force_block_kernel(nullptr);
  on_every_target(run);
}

Tensor product(const Tensor& a, const Tensor& weight, const Tensor& bias = {},
               DType out = DType::f32) {
  Tensor c = Tensor::empty({a.rows(), weight.rows()}, out);
  matmul_blocks(a, pack_blocks(weight), bias, c);
  return c;
}

Tensor plain_product(const Tensor& a, const Tensor& weight, const Tensor& bias = {},
                     DType out = DType::f32) {
  Tensor c = Tensor::empty({a.rows(), weight.rows()}, out);
  const PackedBlocks packed = reference::pack_blocks_grouped({&weight, 1}).front();
  reference::matmul_blocks_grouped(a, std::array{BlockProduct{&packed, &bias, &c}});
  return c;
}

/// Calls body with weights of every block type, short and long, with odd numbers of blocks.
void for_weights(int64_t n, const std::function<void(const Tensor&)>& body) {
  for (const DType dtype : kBlocks) {
    body(random_stored({n, 256}, dtype, 2));
    body(random_stored({n, 768}, dtype, 3));
    if (block_elements(dtype) == 32)
      for (const int64_t k : {32, 96, 352}) body(random_stored({n, k}, dtype, 4));
  }
}

TEST(MatmulBlocks, HasTheBitsOfTheReference) {
  for_weights(39, [](const Tensor& weight) {
    const Tensor bias = normals({39}, 6);
    for (const int64_t m : {1, 2, 7, 8, 20, 37})
      for (const DType in : kFloating) {
        const Tensor a = normals({m, weight.cols()}, 1, in);
        const Tensor plain = plain_product(a, weight), plus_bias = plain_product(a, weight, bias);
        with_every_kernel([&](const std::string& name) {
          const std::string of = fmt::format("{} {} {} by {} {}", name, m, name_of(in),
                                             name_of(weight.dtype()), weight.cols());
          EXPECT_TRUE(same_bits(product(a, weight), plain)) << of;
          EXPECT_TRUE(same_bits(product(a, weight, bias), plus_bias)) << of << ", with a bias";
        });
        EXPECT_TRUE(same_bits(product(a, weight, {}, DType::bf16),
                              plain_product(a, weight, {}, DType::bf16)));
      }
  });
}

TEST(MatmulBlocks, SeveralPassesHaveTheBitsOfTheReference) {
  const Tensor a = normals({1030, 512}, 1);  // a pass has at most 1,024 such rows
  for (const DType dtype : {DType::q4_0, DType::q6_K}) {
    const Tensor weight = random_stored({39, 512}, dtype, 2), plain = plain_product(a, weight);
    with_every_kernel([&](const std::string& name) {
      EXPECT_TRUE(same_bits(product(a, weight), plain)) << name << " " << name_of(dtype);
    });
  }
}

TEST(MatmulBlocks, IsNearTheExactProduct) {
  for_weights(20, [](const Tensor& weight) {
    const Tensor a = normals({9, weight.cols()}, 1);
    const std::vector<double> found = numbers(product(a, weight));
    Tensor exact = Tensor::empty({9, 20});
    reference::matmul_stored(a, weight, {}, exact);
    double error = 0.0, length = 0.0;
    for (size_t i = 0; i < found.size(); ++i) {
      error += std::pow(found[i] - numbers(exact)[i], 2.0);
      length += std::pow(numbers(exact)[i], 2.0);
    }
    // Rounding errors are at most half of 1/127 of a block's maximum, about 2 deviations.
    EXPECT_LT(std::sqrt(error / length), 0.008) << name_of(weight.dtype());
  });
}

TEST(MatmulBlocks, ExtremeIntegersAreExact) {
  for (const DType dtype : kBlocks) {
    Tensor weight = random_stored({16, 512}, dtype, 2);
    visit_stored(dtype, [&](auto stored) {
      using Block = decltype(stored);
      if constexpr (!is_plain(dtype_of<Block>))
        for (size_t i = 0; i < weight.values<Block>().size(); ++i) {
          auto* bytes = reinterpret_cast<uint8_t*>(weight.data<Block>() + i);
          std::fill(bytes, bytes + sizeof(Block), i % 3 ? uint8_t{0x80} : uint8_t{0xff});
          set_scale(weight.data<Block>()[i], 1.0f, 1.0f);
        }
    });
    for (const float sign : {1.0f, -1.0f}) {
      Tensor a = Tensor::full({20, 512}, sign);
      with_every_kernel([&](const std::string& name) {
        EXPECT_TRUE(same_bits(product(a, weight), plain_product(a, weight)))
            << name << " " << name_of(dtype);
      });
    }
  }
}

TEST(MatmulBlocks, ARowDoesNotDependOnTheOthers) {
  for_weights(37, [](const Tensor& weight) {
    const Tensor a = normals({150, weight.cols()}, 1), bias = normals({37}, 6);
    const Tensor all = product(a, weight, bias);
    for (const int64_t rows : {1, 2, 9, 16, 33, 100})
      for (const int64_t first : {0, 5, 50})
        EXPECT_TRUE(same_bits(product(a.row_slice(first, first + rows), weight, bias),
                              all.row_slice(first, first + rows)))
            << name_of(weight.dtype()) << " " << rows << " from " << first;
  });
}

TEST(MatmulBlocks, DoesNotDependOnTheNumberOfThreads) {
  expect_same_on_any_thread_count([] {
    std::vector<Tensor> results;
    for (const DType dtype : kBlocks)
      for (const int64_t m : {1, 3, 200})
        results.push_back(product(normals({m, 768}, 1), random_stored({1000, 768}, dtype, 2)));
    return results;
  });
}

TEST(MatmulBlocks, GroupedProductsEqualSingleOnes) {
  const DType types[] = {DType::q8_0, DType::q8_0, DType::q4_1, DType::q6_K, DType::q8_0};
  const Tensor bias = normals({70}, 6), none;
  with_every_kernel([&](const std::string& name) {
    for (const int64_t m : {0, 1, 3, 20, 300}) {
      const Tensor a = normals({m, 512}, 1);
      std::vector<PackedBlocks> weights;
      std::vector<Tensor> found, expected;
      for (size_t i = 0; i < std::size(types); ++i) {
        const int64_t n = i == 3 ? 70 : 40 + 300 * static_cast<int64_t>(i % 2);
        const Tensor weight = random_stored({n, 512}, types[i], i);
        weights.push_back(pack_blocks(weight));
        found.push_back(Tensor::empty({m, n}));
        expected.push_back(product(a, weight, i == 3 ? bias : none));
      }
      std::vector<BlockProduct> products;
      for (size_t i = 0; i < weights.size(); ++i)
        products.push_back({&weights[i], i == 3 ? &bias : &none, &found[i]});
      matmul_blocks_grouped(a, products);
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_TRUE(same_bits(found[i], expected[i])) << name << " " << m << " " << i;
    }
  });
}

TEST(MatmulBlocks, EmptySizesAreDefined) {
  for (const DType dtype : kBlocks)
    for (const int64_t m : {0, 1, 20}) {
      const Tensor bias = normals({6}, 3);
      const Tensor c = product(Tensor::empty({m, 0}), Tensor::empty({6, 0}, dtype), bias);
      for (int64_t i = 0; i < c.elements(); ++i)
        EXPECT_EQ(c.data<float>()[i], bias.data<float>()[i % 6]);
      EXPECT_EQ(product(normals({m, 256}, 1), Tensor::empty({0, 256}, dtype)).elements(), 0);
    }
}

TEST(MatmulBlocks, NaNStaysInItsRowOrColumn) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    Tensor a = normals({21, 64}, 1);
    a.data<float>()[4 * 64 + 63] = wrong;
    Tensor weight = random_stored({10, 64}, DType::q8_0, 2);
    weight.data<BlockQ8_0>()[2 * 3].scale = float16(std::numeric_limits<float>::quiet_NaN());
    with_every_kernel([&](const std::string& name) {
      const Tensor c = product(a, weight);
      for (int64_t i = 0; i < c.elements(); ++i)
        EXPECT_EQ(std::isnan(c.data<float>()[i]), i / 10 == 4 || i % 10 == 3) << name << " " << i;
    });
  }
}

TEST(MatmulBlocks, AnInfiniteScaleCountsAsNaN) {
  const Tensor a = normals({21, 256}, 1);
  for (const DType dtype : kBlocks) {
    if (dtype == DType::mxfp4) continue;  // whose scales are finite
    Tensor weight = random_stored({10, 256}, dtype, 2);
    visit_block(dtype, [&](auto zero) {
      using Block = decltype(zero);
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      if constexpr (requires(Block block) { block.scale; })
        set_scale(weight.data<Block>()[3 * 256 / Block::kElements], -kInfinity, 1.0f);
    });
    with_every_kernel([&](const std::string& name) {
      for (const int64_t rows : {1, 21}) {
        const Tensor c = product(a.row_slice(0, rows), weight);
        for (int64_t i = 0; i < c.elements(); ++i)
          EXPECT_EQ(std::isnan(c.data<float>()[i]), i % 10 == 3) << name << " " << i;
      }
    });
    for (int64_t row = 0; row < 21; ++row)
      EXPECT_TRUE(std::isnan(plain_product(a, weight).data<float>()[row * 10 + 3]));
  }
}

TEST(MatmulBlocks, ZerosAndTheSmallestNumbersAreFinite) {
  const Tensor weight = random_stored({16, 256}, DType::q4_0, 2);
  for (const float value : {0.0f, std::numeric_limits<float>::denorm_min(), 1e-38f, 3e38f}) {
    const Tensor a = Tensor::full({3, 256}, value), plain = plain_product(a, weight);
    with_every_kernel([&](const std::string& name) {
      EXPECT_TRUE(same_bits(product(a, weight), plain)) << name << " " << value;
    });
    for (const double element : numbers(plain)) EXPECT_FALSE(std::isnan(element)) << value;
  }
}

TEST(MatmulBlocks, RefusesOtherTypes) {
  expect_error([] { pack_blocks(Tensor::zeros({4, 32})); }, "the weight is f32");
  const Tensor weight = random_stored({4, 32}, DType::q8_0, 1);
  expect_error([&] { product(Tensor::zeros({2, 32}, DType::f16), weight); }, "found f16");
  Tensor c = Tensor::empty({2, 4});
  const Tensor a = normals({2, 32}, 1), none;
  const PackedBlocks fast = cpu::pack_blocks_grouped({&weight, 1}).front();
  const PackedBlocks plain = reference::pack_blocks_grouped({&weight, 1}).front();
  expect_error(
      [&] {
        cpu::matmul_blocks_grouped(a, std::array{BlockProduct{&plain, &none, &c}});
      },
      "packed by the reference");
  expect_error(
      [&] {
        reference::matmul_blocks_grouped(a, std::array{BlockProduct{&fast, &none, &c}});
      },
      "packed by the cpu");
}

}  // namespace
}  // namespace heed::kernels
