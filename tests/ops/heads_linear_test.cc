#include "heed/ops/heads_linear.h"

#include <gtest/gtest.h>

#include "heed/kernels/quantize.h"
#include "tests/ops/gradient_check.h"

namespace heed {
namespace {

using testing::random_tensor;

constexpr int64_t kHeads = 3, kStep = 5, kBegin = 1, kRows = 2, kRank = 4;

Parameter weight_of(uint64_t seed) {
  Parameter weight;
  weight.name = "kv_b_proj.weight";
  weight.shape = {kHeads * kStep, kRank};
  weight.value = random_tensor(weight.shape, seed);
  return weight;
}

double element(const Tensor& x, int64_t row, int64_t col) {
  return static_cast<double>(x.data<float>()[row * x.cols() + col]);
}

TEST(HeadsLinear, MultipliesEveryHeadWithItsMatrix) {
  Context context;
  Parameter weight = weight_of(1);
  for (const int64_t rows : {1, 6}) {
    const Tensor x = random_tensor({rows, kHeads * kRows}, 2),
                 z = random_tensor({rows, kHeads * kRank}, 3);
    const Tensor y = ops::heads_linear(context, x, {weight, kHeads, kStep, kBegin, kRows});
    const Tensor t = ops::heads_linear(context, z, {weight, kHeads, kStep, kBegin, kRows, true});
    ASSERT_EQ(y.shape(), (Shape{rows, kHeads * kRank}));
    ASSERT_EQ(t.shape(), (Shape{rows, kHeads * kRows}));
    for (int64_t n = 0; n < rows; ++n)
      for (int64_t h = 0; h < kHeads; ++h) {
        const int64_t first = h * kStep + kBegin;
        for (int64_t c = 0; c < kRank; ++c) {
          double sum = 0;
          for (int64_t i = 0; i < kRows; ++i)
            sum += element(x, n, h * kRows + i) * element(weight.value, first + i, c);
          EXPECT_NEAR(element(y, n, h * kRank + c), sum, 1e-5);
        }
        for (int64_t i = 0; i < kRows; ++i) {
          double sum = 0;
          for (int64_t c = 0; c < kRank; ++c)
            sum += element(z, n, h * kRank + c) * element(weight.value, first + i, c);
          EXPECT_NEAR(element(t, n, h * kRows + i), sum, 1e-5);
        }
      }
  }
}

TEST(HeadsLinear, ReadsWeightsOfAnyStoredType) {
  Context context;
  constexpr int64_t kWide = 64;
  Parameter plain, stored;
  plain.shape = stored.shape = {kHeads * kStep, kWide};
  for (const DType dtype : {DType::bf16, DType::f16, DType::q8_0, DType::q4_0}) {
    stored.value = Tensor::empty(stored.shape, dtype);
    kernels::quantize(random_tensor(stored.shape, 1), stored.value);
    plain.value = Tensor::empty(plain.shape);
    kernels::dequantize(stored.value, plain.value);
    for (const bool transposed : {false, true}) {
      const Tensor x = random_tensor({4, kHeads * (transposed ? kWide : kRows)}, 2);
      const auto product = [&](Parameter& weight) {
        return ops::heads_linear(context, x, {weight, kHeads, kStep, kBegin, kRows, transposed});
      };
      const Tensor found = product(stored), expected = product(plain);
      for (int64_t i = 0; i < expected.elements(); ++i)
        EXPECT_NEAR(found.data<float>()[i], expected.data<float>()[i], 1e-4) << name_of(dtype);
    }
  }
}

TEST(HeadsLinear, RefusesATapeAndMismatchedSizes) {
  Parameter weight = weight_of(1);
  Tape tape;
  Context training{.tape = &tape}, context;
  const Tensor x = Tensor::zeros({2, kHeads * kRows});
  EXPECT_THROW(ops::heads_linear(training, x, {weight, kHeads, kStep, kBegin, kRows}), Error);
  EXPECT_THROW(ops::heads_linear(context, x, {weight, kHeads, kStep, kBegin, 5}), Error);
  EXPECT_THROW(ops::heads_linear(context, x, {weight, kHeads, 4, kBegin, kRows}), Error);
  EXPECT_THROW(ops::heads_linear(context, x, {weight, kHeads, kStep, kBegin, kRows, true}), Error);
}

}  // namespace
}  // namespace heed
