#include "heed/kernels/quantize.h"

#include <limits>

#include "tests/base/testing.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

/// The same numbers; zeros may differ in their sign.
bool same_numbers(const Tensor& a, const Tensor& b) {
  const auto x = a.values<float>(), y = b.values<float>();
  return a.shape() == b.shape() && std::equal(x.begin(), x.end(), y.begin());
}

/// x in `dtype` and back, by the reference.
Tensor round_trip(const Tensor& x, DType dtype) {
  Tensor stored = Tensor::empty(x.shape(), dtype), back = Tensor::empty(x.shape());
  reference::quantize(x, stored);
  reference::dequantize(stored, back);
  return back;
}

TEST(Dequantize, GivesTheSameNumbersAsTheReferenceForEveryType) {
  on_every_target([](const std::string& target) {
    for (const DType dtype : kStored)
      for (const int64_t cols : {256, 512, 1280}) {
        const Tensor x = random_stored({5, cols}, dtype, 7);
        Tensor fast = Tensor::empty(x.shape()), plain = Tensor::empty(x.shape());
        cpu::dequantize(x, fast);
        reference::dequantize(x, plain);
        EXPECT_TRUE(same_numbers(fast, plain)) << target << " " << name_of(dtype);
      }
  });
}

TEST(Dequantize, TakesAnyWidthOfPlainTypes) {
  on_every_target([](const std::string& target) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
      for (const int64_t cols : kOddSizes) {
        const Tensor x = random_stored({3, cols}, dtype, 8);
        Tensor fast = Tensor::empty(x.shape()), plain = Tensor::empty(x.shape());
        cpu::dequantize(x, fast);
        reference::dequantize(x, plain);
        EXPECT_TRUE(same_bits(fast, plain)) << target << " " << name_of(dtype) << " " << cols;
      }
  });
}

TEST(Dequantize, WidensEveryF16Exactly) {
  Tensor x = Tensor::empty({16, 4096}, DType::f16);
  for (uint32_t i = 0; i < 0x10000; ++i) x.data<float16>()[i].bits = static_cast<uint16_t>(i);
  on_every_target([&](const std::string& target) {
    Tensor y = Tensor::empty(x.shape());
    cpu::dequantize(x, y);
    for (int64_t i = 0; i < x.elements(); ++i) {
      const auto expected = static_cast<float>(x.data<float16>()[i]);
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(y.data<float>()[i])) << target << " " << i;
      else
        ASSERT_EQ(std::bit_cast<uint32_t>(y.data<float>()[i]), std::bit_cast<uint32_t>(expected))
            << target << " " << i;
    }
  });
}

TEST(Dequantize, GivesTheRowsThatAreAskedFor) {
  const std::vector<int32_t> rows{3, 0, 3, 6};
  on_every_target([&](const std::string& target) {
    for (const DType dtype : kStored) {
      const Tensor x = random_stored({7, 256}, dtype, 9);
      Tensor all = Tensor::empty(x.shape()), some = Tensor::empty({4, 256});
      reference::dequantize(x, all);
      cpu::dequantize_rows(x, rows, some);
      for (int64_t n = 0; n < 4; ++n)
        EXPECT_TRUE(same_numbers(
            some.row_slice(n, n + 1),
            all.row_slice(rows[static_cast<size_t>(n)], rows[static_cast<size_t>(n)] + 1)))
            << target << " " << name_of(dtype);
    }
  });
}

TEST(Quantize, GivesTheSameBytesAsTheReference) {
  on_every_target([](const std::string& target) {
    for (const DType dtype :
         {DType::f32, DType::bf16, DType::f16, DType::q8_0, DType::q4_0, DType::q4_1})
      for (const float spread : {1.0f, 1e-6f, 1e3f}) {
        Tensor x = normals({6, 320}, 11, DType::f32, spread);
        std::fill_n(x.data<float>() + 64, 64, 0.0f);
        x.data<float>()[130] = -x.data<float>()[128];  // the same magnitude twice
        Tensor fast = Tensor::empty(x.shape(), dtype), plain = Tensor::empty(x.shape(), dtype);
        cpu::quantize(x, fast);
        reference::quantize(x, plain);
        EXPECT_TRUE(same_bits(fast, plain)) << target << " " << name_of(dtype) << " " << spread;
      }
  });
}

TEST(Quantize, TakesWeightsOfAnyType) {
  for (const DType from : kStored) {
    const Tensor x = random_stored({4, 256}, from, 12);
    Tensor wide = Tensor::empty(x.shape()), direct = Tensor::empty(x.shape(), DType::q8_0);
    cpu::dequantize(x, wide);
    Tensor twice = Tensor::empty(x.shape(), DType::q8_0);
    cpu::quantize(wide, twice);
    cpu::quantize(x, direct);
    EXPECT_TRUE(same_bits(direct, twice)) << name_of(from);
  }
}

TEST(Quantize, StaysWithinHalfAStep) {
  const Tensor x = normals({8, 256}, 13);
  const std::pair<DType, double> steps[] = {
      {DType::q8_0, 1.0 / 127}, {DType::q4_0, 2.0 / 16}, {DType::q4_1, 2.0 / 15}};
  for (const auto& [dtype, step] : steps) {
    const Tensor back = round_trip(x, dtype);
    for (int64_t block = 0; block < x.elements(); block += 32) {
      double largest = 0;
      for (int64_t i = block; i < block + 32; ++i)
        largest = std::max(largest, std::abs(static_cast<double>(x.data<float>()[i])));
      // Half a step, the rounding of the scale to f16, and in q4_0 the end that has one value less.
      const double allowed = largest * (step * (dtype == DType::q4_0 ? 1.0 : 0.5) + 2e-3);
      for (int64_t i = block; i < block + 32; ++i)
        EXPECT_NEAR(back.data<float>()[i], x.data<float>()[i], allowed) << name_of(dtype);
    }
  }
}

TEST(Quantize, KeepsZerosAndTheExtremes) {
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1}) {
    const Tensor zeros = round_trip(Tensor::zeros({1, 32}), dtype);
    for (const float value : zeros.values<float>()) EXPECT_EQ(value, 0.0f) << name_of(dtype);
    Tensor x = Tensor::zeros({1, 32});
    x.data<float>()[3] = -8.0f;  // a scale that f16 holds exactly, but for q8_0
    EXPECT_NEAR(round_trip(x, dtype).data<float>()[3], -8.0f, 4e-3) << name_of(dtype);
  }
  // So small that 1 / scale is infinite.
  Tensor tiny = Tensor::full({1, 32}, 1e-44f);
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1}) {
    Tensor fast = Tensor::empty({1, 32}, dtype), plain = Tensor::empty({1, 32}, dtype);
    cpu::quantize(tiny, fast);
    reference::quantize(tiny, plain);
    EXPECT_TRUE(same_bits(fast, plain)) << name_of(dtype);
  }
}

TEST(Quantize, RefusesWhatABlockCannotHold) {
  for (const bool fast : {false, true})
    for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1})
      for (const float value : {std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN(), 3e38f}) {
        Tensor x = Tensor::zeros({2, 64});
        x.data<float>()[70] = value;
        Tensor y = Tensor::empty(x.shape(), dtype);
        expect_error([&] { fast ? cpu::quantize(x, y) : reference::quantize(x, y); },
                     fmt::format("cannot be stored as {}", name_of(dtype)));
      }
  Tensor y = Tensor::zeros({1, 256}, DType::q6_K);
  expect_error([&] { cpu::quantize(Tensor::zeros({1, 256}), y); }, "q6_K");
}

}  // namespace
}  // namespace heed::kernels
