#include "heed/kernels/soft_cap.h"

#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

TEST(SoftCap, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t size : kOddSizes)
      for (const float cap : {0.5f, 30.0f})
        for (const float spread : {1e-4f, 1.0f, 100.0f}) {
          Tensor fast = normals({size}, 1, DType::f32, spread);
          Tensor plain = fast.clone();
          cpu::soft_cap(cap, fast);
          reference::soft_cap(cap, plain);
          expect_close(fast, plain, target, 0.0);
        }
  });
}

TEST(SoftCap, KeepsSmallNumbersBoundsLargeOnesAndPropagatesNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  Tensor x = Tensor::of({5}, std::vector<float>{1e-3f, 1e30f, -infinity, -0.0f, std::nanf("")});
  soft_cap(30.0f, x);
  EXPECT_FLOAT_EQ(x.data<float>()[0], 1e-3f);
  EXPECT_EQ(x.data<float>()[1], 30.0f);
  EXPECT_EQ(x.data<float>()[2], -30.0f);
  EXPECT_EQ(x.data<float>()[3], 0.0f);
  EXPECT_TRUE(std::isnan(x.data<float>()[4]));
}

}  // namespace
}  // namespace heed::kernels
