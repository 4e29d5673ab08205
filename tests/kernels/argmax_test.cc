#include "heed/kernels/argmax.h"

#include <limits>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

int64_t largest_of(const std::vector<float>& x) { return argmax(x); }

TEST(Argmax, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([&](const std::string& target) {
    for (const int64_t count : kOddSizes) {
      const Tensor x = normals({count}, static_cast<uint64_t>(count));
      EXPECT_EQ(cpu::argmax(x.values<float>()), reference::argmax(x.values<float>()))
          << target << ", " << count;
    }
  });
}

TEST(Argmax, TiesGoToTheFirst) {
  on_every_target([&](const std::string& target) {
    for (const size_t count : {1, 5, 16, 40, 100})
      for (size_t first = 0; first < count; ++first) {
        std::vector<float> x(count, -1.0f);
        x[first] = x.back() = 3.0f;
        EXPECT_EQ(largest_of(x), static_cast<int64_t>(first)) << target << ", " << count;
      }
  });
}

TEST(Argmax, HandlesInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(largest_of({-infinity, -infinity, -infinity}), 0);
  EXPECT_EQ(largest_of({-infinity, -5.0f, -infinity}), 1);
  EXPECT_EQ(largest_of({0.0f, infinity, 1.0f}), 1);
}

TEST(Argmax, IsMinusOneIfEmptyOrNaN) {
  EXPECT_EQ(largest_of({}), -1);
  on_every_target([&](const std::string& target) {
    for (const size_t count : {1, 5, 16, 70})
      for (size_t wrong = 0; wrong < count; ++wrong) {
        std::vector<float> x(count, 1.0f);
        x[wrong] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_EQ(largest_of(x), -1) << target << ", " << wrong << " of " << count;
      }
  });
}

}  // namespace
}  // namespace heed::kernels
