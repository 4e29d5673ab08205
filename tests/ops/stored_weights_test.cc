// Weights of any stored type: ops read them without a tape, and refuse to train them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "heed/kernels/matmul_stored.h"
#include "heed/kernels/quantize.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/embedding.h"
#include "heed/ops/linear.h"
#include "heed/ops/multiply.h"
#include "tests/base/testing.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::ops {
namespace {

using kernels::normals;

constexpr DType kStored[] = {DType::bf16, DType::f16, DType::q8_0, DType::q4_0, DType::q4_1};

struct Stored {
  Parameter parameter;  // as it is stored
  Parameter widened;    // the same numbers in f32
};

Stored stored(const Shape& shape, DType dtype, uint64_t seed) {
  Stored result;
  result.parameter.name = result.widened.name = "weight";
  result.parameter.shape = result.widened.shape = shape;
  result.parameter.value = Tensor::empty(shape, dtype);
  result.widened.value = Tensor::empty(shape);
  kernels::quantize(normals(shape, seed), result.parameter.value);
  kernels::dequantize(result.parameter.value, result.widened.value);
  return result;
}

TEST(StoredWeights, LinearEqualsThatOfTheWidenedWeight) {
  for (const DType dtype : kStored)
    for (const DType compute : {DType::f32, DType::bf16}) {
      Stored weight = stored({24, 64}, dtype, 1);
      Parameter bias;
      bias.value = normals({24}, 2);
      const Tensor x = normals({5, 64}, 3, compute);
      Context context{.dtype = compute};
      const Tensor y = linear(context, x, weight.parameter, bias);
      EXPECT_EQ(y.dtype(), compute);
      Tensor expected = Tensor::empty({5, 24}, compute);
      kernels::reference::matmul_stored(x, weight.widened.value, bias.value, expected);
      kernels::expect_close(y, expected, std::string(name_of(dtype)), 10.0);
    }
}

TEST(StoredWeights, EmbeddingEqualsThatOfTheWidenedTables) {
  const std::vector<int32_t> tokens{7, 0, 7, 3}, places{0, 1, 2, 3};
  for (const DType dtype : kStored)
    for (const DType compute : {DType::f32, DType::bf16}) {
      Stored table = stored({9, 64}, dtype, 1), learned = stored({6, 64}, dtype, 2);
      Context context{.dtype = compute};
      const Tensor y =
          embedding(context, {tokens, places}, table.parameter, 3.0f, {{}, &learned.parameter});
      const Tensor expected =
          embedding(context, {tokens, places}, table.widened, 3.0f, {{}, &learned.widened});
      EXPECT_EQ(std::memcmp(y.raw(), expected.raw(), static_cast<size_t>(y.bytes())), 0)
          << name_of(dtype);
    }
}

TEST(StoredWeights, CrossEntropyEqualsThatOfTheWidenedWeight) {
  const std::vector<int32_t> targets{1, 0, 30};
  for (const DType dtype : kStored) {
    Stored weight = stored({40, 64}, dtype, 1);
    Parameter none;
    const Tensor x = normals({3, 64}, 3, DType::f32, 0.2f);
    Context context;
    const Loss found = cross_entropy(context, x, weight.parameter, none, targets, {});
    const Loss wanted = cross_entropy(context, x, weight.widened, none, targets, {});
    EXPECT_NEAR(found.negative_log_likelihood, wanted.negative_log_likelihood, 1e-5);
  }
}

TEST(StoredWeights, CannotBeTrained) {
  Tape tape;
  Context context{.tape = &tape};
  Stored weight = stored({32, 32}, DType::q8_0, 1);
  Parameter none;
  const std::vector<int32_t> tokens{1};
  const Tensor x = normals({1, 32}, 2);
  const std::string text = "weight is stored as q8_0: only f32 can be trained";
  expect_error([&] { linear(context, x, weight.parameter, none); }, text);
  expect_error([&] { cross_entropy(context, x, weight.parameter, none, tokens, {}); }, text);
  expect_error([&] { embedding(context, {tokens, {}}, weight.parameter, 1.0f, {}); }, text);
}

/// The magnitudes of x, in f32.
Tensor magnitudes(const Tensor& x) {
  Tensor result = kernels::in_dtype(x, DType::f32);
  float* const values = result.data<float>();
  std::transform(values, values + result.elements(), values, [](float v) { return std::abs(v); });
  return result;
}

TEST(Linear, GivesTheSameBitsPackedAndInTraining) {
  for (const DType compute : {DType::f32, DType::bf16}) {
    const Stored weight = stored({20, 32}, DType::f32, 1);
    Parameter packed = weight.widened, none;
    packed.packed = PackedWeight::of_floats(packed.read(compute));
    const Tensor x = normals({3, 32}, 2, compute);
    Tape tape;
    Context context{.dtype = compute}, training{.tape = &tape, .dtype = compute};
    const Tensor expected = linear(training, x, weight.widened, none);
    const Tensor found = linear(context, x, packed, none);
    EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), static_cast<size_t>(found.bytes())), 0);
  }
}

// A stored weight is read in f32, the same weight in training is first rounded to bf16. So in bf16
// two elements of y = x W^T differ by at most 2^-8 sum_k |x_k w_k|, since bf16 has 8 significant
// bits, and 2^-8 |y| for the rounding of each y. The sums themselves are f32: 2^-16 is more than
// 32 roundings of them.
TEST(Linear, OfAStoredWeightDiffersFromTrainingByTheRoundingOfWeights) {
  for (const DType compute : {DType::f32, DType::bf16}) {
    const double rounding = compute == DType::bf16 ? 0x1p-8 : 0.0;
    Stored weight = stored({20, 32}, DType::f16, 1);
    Parameter none;
    const Tensor x = normals({3, 32}, 2, compute);
    Tape tape;
    Context context{.dtype = compute}, training{.tape = &tape, .dtype = compute};
    const std::vector<double> trained = kernels::numbers(linear(training, x, weight.widened, none));
    const std::vector<double> read = kernels::numbers(linear(context, x, weight.parameter, none));

    weight.widened.value = magnitudes(weight.widened.value);
    Context exact;
    const std::vector<double> sums =
        kernels::numbers(linear(exact, magnitudes(x), weight.widened, none));
    for (size_t i = 0; i < read.size(); ++i)
      EXPECT_NEAR(
          read[i], trained[i],
          (rounding + 0x1p-16) * sums[i] + rounding * (std::abs(read[i]) + std::abs(trained[i])))
          << name_of(compute) << ", element " << i;
  }
}

TEST(PackedWeight, KeepsTheElementsOnRequest) {
  Parameter weight = stored({20, 32}, DType::q8_0, 1).widened;
  const Tensor rounded = weight.read(DType::bf16);
  EXPECT_FALSE(weight.elements_in(DType::bf16).defined());
  weight.packed = PackedWeight::of_floats(rounded);
  EXPECT_FALSE(weight.elements_in(DType::bf16).defined());
  weight.packed = PackedWeight::of_floats(rounded, true);
  EXPECT_EQ(weight.elements_in(DType::bf16).id(), rounded.id());
  EXPECT_EQ(weight.elements_in(DType::f32).id(), weight.value.id());
}

TEST(Multiply, RefusesWidthsThatDoNotFit) {
  Stored weight = stored({20, 32}, DType::q4_0, 1);
  Parameter none, bias;
  bias.name = "bias";
  bias.value = normals({19}, 1);
  Tensor out = Tensor::empty({3, 20});
  expect_error(
      [&] {
        multiply(normals({3, 64}, 2), weight.parameter, none, out);
      },
      "weight: the input is [3, 64], its width should be 32");
  expect_error(
      [&] {
        multiply(normals({3, 32}, 2), weight.parameter, bias, out);
      },
      "bias: the bias is [19], expected [20]");
}

}  // namespace
}  // namespace heed::ops
