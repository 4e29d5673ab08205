#include "heed/kernels/dropout.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

Tensor ones(int64_t count) { return Tensor::full({count}, 1.0f); }

TEST(Dropout, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t count : {1, 7, 64, 1000, 100003})
      for (const DType dtype : kFloating)
        for (const float rate : {0.0f, 0.3f}) {
          const Dropout dropout{rate, 0x1234567890abcdefu};
          const Tensor x = normals({count}, 1, dtype), residual = normals({count}, 2, dtype);
          Tensor fast = Tensor::empty({count}, dtype), plain = Tensor::empty({count}, dtype);
          cpu::dropout_add_forward(x, residual, dropout, fast);
          reference::dropout_add_forward(x, residual, dropout, plain);
          expect_close(fast, plain, target + " with a residual");
          cpu::dropout_add_forward(x, {}, dropout, fast);
          reference::dropout_add_forward(x, {}, dropout, plain);
          expect_close(fast, plain, target + " alone", 0.0);
        }
  });
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

TEST(Dropout, AnotherKeyGivesAnotherMask) {
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
