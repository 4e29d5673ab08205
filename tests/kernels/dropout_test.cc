#include "heed/kernels/dropout.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed::kernels {
namespace {

Tensor ones(int64_t count) { return Tensor::full({count}, 1.0f); }

TEST(Dropout, CpuAgreesWithReferenceBitForBit) {
  for (const int64_t count : {1, 7, 64, 1000, 100003}) {
    const Tensor x = ones(count);
    const Tensor residual = Tensor::full({count}, 0.25f);
    Tensor fast = Tensor::empty({count});
    Tensor plain = Tensor::empty({count});
    cpu::dropout_add_forward(x, residual, {0.3f, 0x1234567890abcdefu}, fast);
    reference::dropout_add_forward(x, residual, {0.3f, 0x1234567890abcdefu}, plain);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_FLOAT_EQ(fast.data<float>()[i], plain.data<float>()[i]) << "element " << i;
  }
}

TEST(Dropout, DropsTheRateAndKeepsTheMean) {
  const int64_t count = 200000;
  Tensor y = Tensor::empty({count});
  for (const float rate : {0.1f, 0.5f}) {
    dropout_add_forward(ones(count), {}, {rate, 42}, y);
    double dropped = 0, sum = 0;
    for (const float value : y.values<float>()) {
      dropped += value == 0.0f;
      sum += value;
    }
    EXPECT_NEAR(dropped / count, rate, 0.005);
    EXPECT_NEAR(sum / count, 1.0, 0.01);
  }
}

TEST(Dropout, AnotherKeyIsAnotherMask) {
  const int64_t count = 10000;
  Tensor a = Tensor::empty({count}), b = Tensor::empty({count});
  dropout_add_forward(ones(count), {}, {0.5f, 1}, a);
  dropout_add_forward(ones(count), {}, {0.5f, 2}, b);
  int64_t equal = 0;
  for (int64_t i = 0; i < count; ++i) equal += a.data<float>()[i] == b.data<float>()[i];
  EXPECT_NEAR(static_cast<double>(equal) / count, 0.5, 0.03);
}

}  // namespace
}  // namespace heed::kernels
