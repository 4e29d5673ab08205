#include "heed/kernels/elementwise.h"

#include <bit>

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())), 0) << what;
}

TEST(Elementwise, CpuAgreesWithReferenceBitForBitOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t size : kOddSizes)
      for (const DType from : kFloating)
        for (const DType to : kFloating) {
          const Tensor x = normals({size}, 1, from), y = normals({size}, 2, to);
          Tensor fast = y.clone(), plain = y.clone();
          cpu::add_to(x, fast);
          reference::add_to(x, plain);
          expect_same_bits(fast, plain, target + " add_to");
          cpu::scale(1.7f, fast);
          reference::scale(1.7f, plain);
          expect_same_bits(fast, plain, target + " scale");
          cpu::convert(x, fast);
          reference::convert(x, plain);
          expect_same_bits(fast, plain, target + " convert");
        }
  });
}

TEST(Elementwise, ConversionToBf16RoundsToNearestEvenAndKeepsNaN) {
  std::vector<float> values;
  const CounterRandom random(3);
  for (uint64_t i = 0; i < 20000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.bits(i))));
  for (const uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff800001u, 0x7f800000u,
                              0x3f808000u, 0x3f818000u, 0x7f7fffffu, 0x80000000u, 0x00000001u})
    values.push_back(std::bit_cast<float>(bits));
  const Tensor x = Tensor::of({static_cast<int64_t>(values.size())}, values);
  on_every_target([&](const std::string& target) {
    Tensor y = Tensor::empty(x.shape(), DType::bf16);
    cpu::convert(x, y);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(y.values<bfloat16>()[i].bits, bfloat16(values[i]).bits)
          << target << ", value " << values[i];
      ASSERT_EQ(std::isnan(static_cast<float>(y.values<bfloat16>()[i])), std::isnan(values[i]));
    }
  });
}

TEST(Elementwise, SumOfSquaresIsExactToDoublePrecision) {
  on_every_target([](const std::string& target) {
    for (const int64_t size : {1, 3, 15, 17, 1000, 65536, 200001}) {
      const Tensor x = normals({size}, 4);
      const double expected = reference::sum_of_all_squares({&x, 1});
      EXPECT_NEAR(cpu::sum_of_all_squares({&x, 1}) / expected, 1.0, 1e-13)
          << target << ", " << size;
    }
  });
  EXPECT_DOUBLE_EQ(sum_of_squares(Tensor::full({10}, 1e30f)),
                   10.0 * static_cast<double>(1e30f) * static_cast<double>(1e30f));
  EXPECT_EQ(sum_of_squares(Tensor::empty({0})), 0.0);
  const std::vector<Tensor> several{Tensor::full({10}, 2.0f), {}, Tensor::full({100000}, 1.0f)};
  EXPECT_EQ(cpu::sum_of_all_squares(several), 100040.0);
  EXPECT_EQ(reference::sum_of_all_squares(several), 100040.0);
}

TEST(Elementwise, TheSumOfSquaresDoesNotDependOnTheNumberOfThreads) {
  const Tensor x = normals({1000003}, 5);
  const auto sum_on = [&](int threads) {
    const Threads set(threads);
    return sum_of_squares(x);
  };
  EXPECT_EQ(sum_on(2), sum_on(1));
}

}  // namespace
}  // namespace heed::kernels
