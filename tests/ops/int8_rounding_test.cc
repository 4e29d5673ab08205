// Training as int8 inference computes: the same products, and gradients that ignore the rounding.
#include "heed/ops/int8_rounding.h"

#include <gtest/gtest.h>

#include "heed/kernels/quantize.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/linear.h"
#include "tests/base/testing.h"
#include "tests/ops/gradient_check.h"

namespace heed::ops {
namespace {

using testing::random_tensor;

Parameter named_weight(const std::string& name, const Tensor& value) {
  Parameter parameter;
  parameter.name = name;
  parameter.shape = value.shape();
  parameter.value = value;
  return parameter;
}

class Int8Rounding : public ::testing::Test {
 protected:
  Tensor x_ = random_tensor({5, 64}, 1);
  Parameter weight_ = named_weight("weight", random_tensor({9, 64}, 2));
  Parameter bias_ = named_weight("bias", random_tensor({9}, 3));

  /// The product of int8 inference with the weight as `heed quantize` stores it.
  Tensor inference() const {
    Tensor blocks = Tensor::empty(weight_.value.shape(), DType::q8_0);
    kernels::quantize(weight_.value, blocks);
    Tensor y = Tensor::empty({5, 9});
    PackedWeight::of_int8(blocks).multiply(x_, bias_.value, y);
    return y;
  }
};

TEST_F(Int8Rounding, ALinearMapIsThatOfInt8Inference) {
  Gradients gradients;
  gradients.add(weight_);
  gradients.add(bias_);
  Tape tape(gradients);
  Context context{.tape = &tape, .rounds_to_int8 = true};
  const Tensor y = linear(context, x_, weight_, bias_), expected = inference();
  context.rounds_to_int8 = false;
  const Tensor exact = linear(context, x_, weight_, bias_);
  double difference = 0;
  for (int64_t i = 0; i < y.elements(); ++i) {
    EXPECT_NEAR(y.data<float>()[i], expected.data<float>()[i], 2e-5f);
    difference = std::max(difference, std::abs(static_cast<double>(y.data<float>()[i]) -
                                               static_cast<double>(exact.data<float>()[i])));
  }
  EXPECT_GT(difference, 1e-3);
}

TEST_F(Int8Rounding, GradientsAreThoseOfTheRoundedFactors) {
  Gradients gradients;
  gradients.add(weight_);
  gradients.add(bias_);
  Tape tape(gradients);
  Context context{.tape = &tape, .rounds_to_int8 = true};
  const Tensor y = linear(context, x_, weight_, bias_);
  const Tensor dy = random_tensor(y.shape(), 7);
  tape.add(y, dy.clone());
  tape.backward();
  const Tensor dx = tape.take(x_), wq = rounded_to_int8(weight_, DType::f32),
               xq = rounded_to_int8(x_);
  const auto at = [](const Tensor& tensor, int64_t row, int64_t col) {
    return static_cast<double>(tensor.data<float>()[row * tensor.cols() + col]);
  };
  for (int64_t k = 0; k < 64; ++k) {
    for (int64_t n = 0; n < 5; ++n) {
      double sum = 0;
      for (int64_t m = 0; m < 9; ++m) sum += at(dy, n, m) * at(wq, m, k);
      EXPECT_NEAR(at(dx, n, k), sum, 1e-4);
    }
    for (int64_t m = 0; m < 9; ++m) {
      double sum = 0;
      for (int64_t n = 0; n < 5; ++n) sum += at(dy, n, m) * at(xq, n, k);
      EXPECT_NEAR(at(gradients.of(weight_).tensor(), m, k), sum, 1e-4);
    }
  }
}

TEST_F(Int8Rounding, TheLossIsThatOfInt8Logits) {
  const std::vector<int32_t> targets{1, 8, 0, 4, 4};
  Gradients gradients;
  gradients.add(weight_);
  gradients.add(bias_);
  Tape tape(gradients);
  Context training{.tape = &tape, .rounds_to_int8 = true};
  const Loss loss = cross_entropy(training, x_, weight_, bias_, targets, {});
  Tensor blocks = Tensor::empty(weight_.value.shape(), DType::q8_0);
  kernels::quantize(weight_.value, blocks);
  Parameter packed = named_weight("weight", blocks);
  packed.packed = PackedWeight::of_int8(blocks);
  Context inference;
  EXPECT_NEAR(loss.negative_log_likelihood,
              cross_entropy(inference, x_, packed, bias_, targets, {}).negative_log_likelihood,
              1e-3);
}

TEST_F(Int8Rounding, RowsOfZerosAndOfNoWholeBlocksStayAsTheyAre) {
  x_.fill_zero();
  for (const float value : rounded_to_int8(x_).values<float>()) EXPECT_EQ(value, 0);
  const Parameter odd = named_weight("odd", random_tensor({3, 33}, 4));
  const Tensor rounded = rounded_to_int8(odd, DType::f32);
  for (int64_t i = 0; i < rounded.elements(); ++i)
    EXPECT_EQ(rounded.data<float>()[i], odd.value.data<float>()[i]);
}

}  // namespace
}  // namespace heed::ops
