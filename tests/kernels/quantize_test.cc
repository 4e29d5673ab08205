#include "heed/kernels/quantize.h"

#include <limits>

#include "tests/base/testing.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/kernels/stored_testing.h"

namespace heed::kernels {
namespace {

/// The same values; zeros may differ in sign.
bool same_numbers(const Tensor& a, const Tensor& b) {
  const auto x = a.values<float>(), y = b.values<float>();
  return a.shape() == b.shape() && std::equal(x.begin(), x.end(), y.begin());
}

/// x converted to `dtype` and back by the reference.
Tensor round_trip(const Tensor& x, DType dtype, const Tensor& importance = {}) {
  Tensor stored = Tensor::empty(x.shape(), dtype), back = Tensor::empty(x.shape());
  reference::quantize_weighted(x, importance, stored);
  reference::dequantize(stored, back);
  return back;
}

TEST(Dequantize, GivesTheValuesOfTheReferenceForEveryType) {
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

TEST(Dequantize, ConvertsEveryF16Exactly) {
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

TEST(Dequantize, GivesTheRequestedRows) {
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

/// Normal numbers with hard cases: zeros, equal elements, equal magnitudes of different sign, an
/// outlier.
Tensor hard_numbers(const Shape& shape, uint64_t seed, float spread) {
  Tensor x = normals(shape, seed, DType::f32, spread);
  float* values = x.data<float>();
  std::fill_n(values + 64, 64, 0.0f);
  values[130] = -values[128];
  std::fill_n(values + 160, 32, 0.7f * spread);
  values[200] = 40.0f * spread;
  return x;
}

/// [cols], between 0 and a few.
Tensor random_importance(int64_t cols) {
  Tensor importance = normals({cols}, 17);
  for (int64_t i = 0; i < cols; ++i) importance.data<float>()[i] *= importance.data<float>()[i];
  importance.data<float>()[3] = 0.0f;
  return importance;
}

TEST(Quantize, GivesTheSameBytesAsTheReference) {
  on_every_target([](const std::string& target) {
    for (const DType dtype : kWritten)
      for (const float spread : {1.0f, 1e-6f, 1e3f})
        for (const Tensor& importance : {Tensor(), random_importance(512)}) {
          const Tensor x = hard_numbers({6, 512}, 11, spread);
          Tensor fast = Tensor::empty(x.shape(), dtype), plain = Tensor::empty(x.shape(), dtype);
          cpu::quantize_weighted(x, importance, fast);
          reference::quantize_weighted(x, importance, plain);
          EXPECT_TRUE(same_bits(fast, plain)) << target << " " << name_of(dtype) << " " << spread;
        }
  });
}

TEST(Quantize, GivesTheSameBytesOnAnyNumberOfThreads) {
  const Tensor x = normals({700, 64}, 5);
  expect_same_on_any_thread_count([&] {
    Tensor y = Tensor::empty(x.shape(), DType::q4_1);
    cpu::quantize_weighted(x, {}, y);
    return std::vector{y};
  });
}

/// What a block stores with GGML's scale and the nearest levels.
std::vector<double> plain_block(const float* x, DType dtype) {
  const auto [least, greatest] = std::minmax_element(x, x + 32);
  const float extreme = std::fabs(*least) >= std::fabs(*greatest) ? *least : *greatest;
  const bool has_minimum = dtype == DType::q4_1;
  const double scale =
      static_cast<float>(float16(has_minimum ? (*greatest - *least) / 15.0f : extreme / -8.0f));
  const double minimum = has_minimum ? static_cast<float>(float16(*least)) : 0.0;
  const double lowest = has_minimum ? 0.0 : -8.0;
  std::vector<double> stored;
  for (int64_t i = 0; i < 32; ++i) {
    const double level = scale == 0.0 ? 0.0 : std::nearbyint((x[i] - minimum) / scale);
    stored.push_back(std::clamp(level, lowest, lowest + 15.0) * scale + minimum);
  }
  return stored;
}

TEST(Quantize, FourBitsAreNeverWorseThanPlainRounding) {
  for (const DType dtype : {DType::q4_0, DType::q4_1})
    for (const float spread : {1.0f, 1e-6f, 1e3f})
      for (const bool weighted : {false, true}) {
        const Tensor x = hard_numbers({16, 320}, 13, spread);
        const Tensor importance = weighted ? random_importance(320) : Tensor::full({320}, 1.0f);
        const Tensor back = round_trip(x, dtype, importance);
        double all = 0, all_plain = 0;
        for (int64_t block = 0; block < x.elements(); block += 32) {
          const float *from = x.data<float>() + block, *to = back.data<float>() + block;
          const std::vector<double> plain = plain_block(from, dtype);
          double error = 0, error_plain = 0;
          for (int64_t i = 0; i < 32; ++i) {
            const double weight = importance.data<float>()[(block + i) % 320];
            error += weight * std::pow(from[i] - static_cast<double>(to[i]), 2);
            error_plain += weight * std::pow(from[i] - plain[static_cast<size_t>(i)], 2);
          }
          EXPECT_LE(error, error_plain * (1 + 1e-5)) << name_of(dtype) << " " << block;
          all += error;
          all_plain += error_plain;
        }
        EXPECT_LT(all, 0.98 * all_plain) << name_of(dtype) << " " << spread;
      }
}

/// The sum of importance[k] * (x[n, k] - y[n, k])^2.
double weighted_error(const Tensor& x, const Tensor& y, const Tensor& importance) {
  double sum = 0;
  for (int64_t i = 0; i < x.elements(); ++i)
    sum += importance.data<float>()[i % x.cols()] *
           std::pow(static_cast<double>(x.data<float>()[i]) - y.data<float>()[i], 2);
  return sum;
}

TEST(Quantize, ImportantColumnsHaveLessError) {
  const Tensor x = normals({64, 320}, 14), importance = random_importance(320);
  for (const DType dtype : {DType::q4_0, DType::q4_1})
    EXPECT_LT(weighted_error(x, round_trip(x, dtype, importance), importance),
              0.8 * weighted_error(x, round_trip(x, dtype), importance))
        << name_of(dtype);
}

/// The root of the mean squared error, divided by that of the elements.
double relative_error(const Tensor& x, DType dtype) {
  const Tensor back = round_trip(x, dtype), ones = Tensor::full({x.cols()}, 1.0f);
  const Tensor zeros = Tensor::zeros(x.shape());
  return std::sqrt(weighted_error(x, back, ones) / weighted_error(x, zeros, ones));
}

TEST(Quantize, BlocksWithSubScalesKeepTheirPrecision) {
  const Tensor x = normals({64, 512}, 16);
  EXPECT_LT(relative_error(x, DType::q4_K), 0.075);
  EXPECT_LT(relative_error(x, DType::q5_K), 0.038);
  EXPECT_LT(relative_error(x, DType::q6_K), 0.020);
  // Sub-blocks of different sizes have their own scales.
  Tensor uneven = normals({64, 512}, 17);
  for (int64_t i = 0; i < uneven.elements(); ++i)
    uneven.data<float>()[i] *= 0.2f + static_cast<float>(i / 32 % 8);
  EXPECT_LT(relative_error(uneven, DType::q4_K), 0.08);
  EXPECT_LT(relative_error(uneven, DType::q6_K), 0.020);
}

TEST(Quantize, EqualImportanceChangesNothing) {
  const Tensor x = normals({8, 320}, 15);
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1, DType::bf16})
    EXPECT_TRUE(same_numbers(round_trip(x, dtype, Tensor::full({320}, 1.0f)), round_trip(x, dtype)))
        << name_of(dtype);
}

TEST(QuantizeGptq, GivesTheSameBitsAsTheReference) {
  const Tensor x = normals({70, 96}, 21), compensation = normals({70, 32}, 22, DType::f32, 0.3f);
  const Tensor feedback = normals({32, 32}, 23, DType::f32, 0.2f);
  const Tensor importance = random_importance(96);
  on_every_target([&](const std::string& target) {
    for (const DType dtype : {DType::q4_0, DType::q4_1}) {
      Tensor fast = Tensor::zeros(x.shape(), dtype), plain = Tensor::zeros(x.shape(), dtype);
      Tensor fast_errors = Tensor::empty({32, 70}), plain_errors = Tensor::empty({32, 70});
      const GptqBlock block{x, 32, compensation, importance, feedback};
      cpu::quantize_gptq(block, fast, fast_errors);
      reference::quantize_gptq(block, plain, plain_errors);
      EXPECT_TRUE(same_bits(fast, plain)) << target << " " << name_of(dtype);
      EXPECT_TRUE(same_bits(fast_errors, plain_errors)) << target << " " << name_of(dtype);
    }
  });
}

TEST(QuantizeGptq, RefusesTypesThatHaveNoSearchForScales) {
  const Tensor x = normals({1, 32}, 1), none = Tensor::zeros({32, 32});
  const Tensor importance = Tensor::full({32}, 1.0f), compensation = Tensor::zeros({1, 32});
  Tensor y = Tensor::zeros({1, 32}, DType::q8_0), errors = Tensor::empty({32, 1});
  const GptqBlock block{x, 0, compensation, importance, none};
  for (const bool fast : {false, true})
    expect_error(
        [&] {
          fast ? cpu::quantize_gptq(block, y, errors) : reference::quantize_gptq(block, y, errors);
        },
        "found q8_0");
}

TEST(QuantizeGptq, ReturnsTheErrorOfEachColumn) {
  const Tensor x = normals({3, 64}, 24), compensation = normals({3, 32}, 25, DType::f32, 0.1f);
  Tensor y = Tensor::zeros(x.shape(), DType::q4_1), errors = Tensor::empty({32, 3});
  const Tensor importance = random_importance(64);
  cpu::quantize_gptq({x, 32, compensation, importance, Tensor::zeros({32, 32})}, y, errors);
  Tensor back = Tensor::empty(x.shape());
  cpu::dequantize(y, back);
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t i = 0; i < 32; ++i) {
      EXPECT_FLOAT_EQ(errors.data<float>()[i * 3 + n],
                      x.data<float>()[n * 64 + 32 + i] - back.data<float>()[n * 64 + 32 + i]);
      EXPECT_EQ(back.data<float>()[n * 64 + i], 0.0f);
    }
}

TEST(Quantize, TakesEveryStoredType) {
  for (const DType from : kStored) {
    const Tensor x = random_stored({4, 256}, from, 12);
    Tensor wide = Tensor::empty(x.shape()), direct = Tensor::empty(x.shape(), DType::q8_0);
    cpu::dequantize(x, wide);
    Tensor twice = Tensor::empty(x.shape(), DType::q8_0);
    cpu::quantize_weighted(wide, {}, twice);
    cpu::quantize_weighted(x, {}, direct);
    EXPECT_TRUE(same_bits(direct, twice)) << name_of(from);
  }
}

TEST(Quantize, EightBitsStayWithinHalfAStep) {
  const Tensor x = normals({8, 256}, 13);
  const Tensor back = round_trip(x, DType::q8_0);
  for (int64_t block = 0; block < x.elements(); block += 32) {
    double largest = 0;
    for (int64_t i = block; i < block + 32; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(x.data<float>()[i])));
    // Half a step, and the rounding of the scale to f16.
    const double allowed = largest * (0.5 / 127 + 2e-3);
    for (int64_t i = block; i < block + 32; ++i)
      EXPECT_NEAR(back.data<float>()[i], x.data<float>()[i], allowed);
  }
}

TEST(Quantize, KeepsZerosAndExtremes) {
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
    cpu::quantize_weighted(tiny, {}, fast);
    reference::quantize_weighted(tiny, {}, plain);
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
        expect_error(
            [&] {
              fast ? cpu::quantize_weighted(x, {}, y) : reference::quantize_weighted(x, {}, y);
            },
            fmt::format("cannot be stored as {}", name_of(dtype)));
      }
  for (const DType dtype : kBlocks) {
    if (is_written(dtype)) continue;
    Tensor y = Tensor::zeros({1, 256}, dtype);
    expect_error(
        [&] {
          cpu::quantize_weighted(Tensor::zeros({1, 256}), {}, y);
        },
        fmt::format("heed reads {}, but does not write it", name_of(dtype)));
  }
}

}  // namespace
}  // namespace heed::kernels
