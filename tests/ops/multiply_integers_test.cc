// Weights that are packed for integer products, in blocks or with a scale for each row.
#include <gtest/gtest.h>

#include "heed/kernels/matmul_blocks.h"
#include "heed/kernels/matmul_int8.h"
#include "heed/kernels/quantize.h"
#include "heed/ops/multiply.h"
#include "tests/base/testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::ops {
namespace {

Parameter packed_weight(DType dtype) {
  Parameter weight;
  weight.name = "weight";
  weight.shape = {24, 64};
  weight.value = kernels::random_stored(weight.shape, dtype, 1);
  weight.packed = PackedWeight::of_blocks({&weight.value, 1}).front();
  return weight;
}

Parameter per_channel_weight(const Shape& shape) {
  Parameter weight;
  weight.name = "weight";
  weight.shape = shape;
  weight.value = kernels::normals(shape, 4);
  weight.packed = PackedWeight::of_int8(weight.value);
  return weight;
}

TEST(MultiplyIntegers, APackedWeightIsMultipliedAsIntegers) {
  Parameter bias, none;
  bias.name = "bias";
  bias.value = kernels::normals({24}, 2);
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1})
    for (const DType compute : kernels::kFloating)
      for (const Parameter* added : {&bias, &none}) {
        const Parameter weight = packed_weight(dtype);
        const Tensor x = kernels::normals({5, 64}, 3, compute);
        Tensor found = Tensor::empty({5, 24}, compute), expected = found.clone();
        multiply(x, weight, *added, found);
        kernels::matmul_blocks(x, kernels::pack_blocks(weight.value), added->value, expected);
        EXPECT_TRUE(kernels::same_bits(found, expected)) << name_of(dtype);
      }
}

TEST(MultiplyIntegers, AWeightWithOneScalePerRowIsMultipliedAsIntegers) {
  Parameter bias;
  bias.name = "bias";
  bias.value = kernels::normals({24}, 2);
  const Parameter weight = per_channel_weight({24, 64});
  const Tensor x = kernels::normals({5, 64}, 3);
  Tensor found = Tensor::empty({5, 24}), expected = found.clone();
  multiply(x, weight, bias, found);
  kernels::matmul_int8(x, kernels::pack_int8(weight.value), bias.value, expected);
  EXPECT_TRUE(kernels::same_bits(found, expected));
}

TEST(MultiplyIntegers, BatchedProductsEqualSingleOnes) {
  const Parameter none;
  Parameter plain = packed_weight(DType::q8_0);
  plain.packed = {};
  Parameter floats = per_channel_weight({24, 64});
  floats.packed = PackedWeight::of_floats(floats.value);
  // More of each kind than are run together.
  std::vector<Parameter> weights{plain, floats};
  for (int i = 0; i < 5; ++i) {
    weights.push_back(packed_weight(i % 2 ? DType::q4_0 : DType::q8_0));
    weights.push_back(per_channel_weight({24, 64}));
  }
  const Tensor x = kernels::normals({3, 64}, 3);
  std::vector<Tensor> found, expected;
  for (const Parameter& weight : weights) {
    found.push_back(Tensor::empty({3, 24}));
    expected.push_back(Tensor::empty({3, 24}));
    multiply(x, weight, none, expected.back());
  }
  std::vector<Product> products;
  for (size_t i = 0; i < weights.size(); ++i) products.push_back({weights[i], none, found[i]});
  multiply(x, products);
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_TRUE(kernels::same_bits(found[i], expected[i])) << i;
}

TEST(MultiplyIntegers, RefusesAnotherWidth) {
  const Parameter none;
  Tensor out = Tensor::empty({2, 24});
  for (const Parameter& weight : {packed_weight(DType::q8_0), per_channel_weight({24, 64})}) {
    expect_error([&] { multiply(kernels::normals({2, 32}, 1), weight, none, out); }, "weight");
    const Product products[] = {{weight, none, out}};
    expect_error([&] { multiply(kernels::normals({2, 32}, 1), products); }, "weight");
  }
}

}  // namespace
}  // namespace heed::ops
