#include "heed/kernels/cpu/simd/instructions.h"

#include "heed/kernels/matmul.h"
#include "tests/base/testing.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

/// Whether a product fails because of HEED_CPU.
bool product_is_refused() {
  const Tensor a = normals({2, 3}, 1), b = normals({3, 4}, 2);
  Tensor c = Tensor::empty({2, 4});
  return error_of([&] { matmul({a}, {b}, {}, c); }) ==
         "HEED_CPU is \"i386\", expected baseline, avx2, avx512, avx512_bf16 or amx";
}

TEST(InstructionsDeathTest, WithAnUnknownMachineInTheEnvironmentProductsAreErrors) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // loads the program anew
  const char* const value = std::getenv("HEED_CPU");
  const std::string before = value != nullptr ? value : "";
  ::setenv("HEED_CPU", "i386", 1);
  EXPECT_EXIT(std::exit(product_is_refused() ? 0 : 1), ::testing::ExitedWithCode(0), "^$");
  if (value != nullptr)
    ::setenv("HEED_CPU", before.c_str(), 1);
  else
    ::unsetenv("HEED_CPU");
}

}  // namespace
}  // namespace heed::kernels
