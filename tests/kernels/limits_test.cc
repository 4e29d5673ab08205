#include "heed/machine_limits.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::kernels {
namespace {

constexpr double kSeconds = 0.02;

TEST(Limits, MeasuresArithmeticAndNamesTheInstructions) {
  for (const Compute arithmetic : {Compute::f32, Compute::bf16, Compute::int8}) {
    const ArithmeticRate rate = measure_arithmetic(arithmetic, kSeconds);
    EXPECT_GT(rate.operations_per_second, 1e7) << name_of(arithmetic);
    EXPECT_LT(rate.operations_per_second, 1e17) << name_of(arithmetic);
    EXPECT_FALSE(rate.instructions.empty()) << name_of(arithmetic);
  }
}

TEST(Limits, MeasuresReading) {
  const double rate = measure_reading(int64_t{4} << 20, kSeconds);
  EXPECT_GT(rate, 1e7);
  EXPECT_LT(rate, 1e14);
}

TEST(Limits, RefusesTooSmallAnArea) { EXPECT_THROW(measure_reading(1000, kSeconds), Error); }

}  // namespace
}  // namespace heed::kernels
