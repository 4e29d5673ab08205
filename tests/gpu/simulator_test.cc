// The simulated GPU computes what kernels say, and shows what is wrong with them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "heed/tensor/bfloat16.h"
#include "tests/base/testing.h"
#include "tests/gpu/gpu_testing.h"
#include "tests/gpu/test_kernels.h"

namespace heed::gpu {
namespace {

std::vector<uint16_t> bf16_values(size_t count, uint64_t seed) {
  std::vector<uint16_t> values;
  for (const float value : random_values(count, seed)) values.push_back(bfloat16(value).bits);
  return values;
}

double value_of(uint16_t bits) {
  bfloat16 value;
  value.bits = bits;
  return static_cast<double>(static_cast<float>(value));
}

constexpr size_t kRows = 6, kColumns = 1000;

/// The largest error of a kernel of softmax; infinite for NaN.
double softmax_error(Gpu& device, const char* kernel) {
  const std::vector<float> x = random_values(kRows * kColumns, 1);
  DeviceArray input(device, x), output(device, std::vector<float>(x.size()));
  device.launch(kernel, {.x = kRows, .threads = 256, .shared_bytes = 8 * sizeof(float)},
                SoftmaxArguments{input.data(), output.data(), kColumns});
  const std::vector<float> y = output.values();
  double error = 0;
  for (size_t row = 0; row < kRows; ++row) {
    const auto from = std::span(x).subspan(row * kColumns, kColumns);
    double sum = 0;
    for (const float value : from) sum += std::exp(static_cast<double>(value));
    for (size_t i = 0; i < kColumns; ++i) {
      const double expected = std::exp(static_cast<double>(from[i])) / sum;
      const double difference = std::abs(static_cast<double>(y[row * kColumns + i]) - expected);
      error = std::isnan(difference) ? INFINITY : std::max(error, difference);
    }
  }
  return error;
}

constexpr unsigned kM = 128, kN = 128, kK = 160;

std::vector<float> product(Gpu& device, const char* kernel, unsigned rows, unsigned columns) {
  DeviceArray a(device, bf16_values(kM * kK, 2)), b(device, bf16_values(kN * kK, 3));
  DeviceArray c(device, std::vector<float>(kM * kN));
  device.launch(kernel,
                {.x = kN / columns,
                 .y = kM / rows,
                 .threads = 128,
                 .shared_bytes = 3 * (rows + columns) * 32 * sizeof(uint16_t)},
                MatmulArguments{a.data(), b.data(), c.data(), kN, kK});
  return c.values();
}

/// Relative to the sum of magnitudes; infinite for NaN.
double product_error(const std::vector<float>& c) {
  const std::vector<uint16_t> a = bf16_values(kM * kK, 2), b = bf16_values(kN * kK, 3);
  double error = 0;
  for (size_t row = 0; row < kM; ++row)
    for (size_t column = 0; column < kN; ++column) {
      double sum = 0, size = 0;
      for (size_t k = 0; k < kK; ++k) {
        const double term = value_of(a[row * kK + k]) * value_of(b[column * kK + k]);
        sum += term;
        size += std::abs(term);
      }
      const double difference = std::abs(static_cast<double>(c[row * kN + column]) - sum) / size;
      error = std::isnan(difference) ? INFINITY : std::max(error, difference);
    }
  return error;
}

std::string with_seed(int seed) { return fmt::format("seed={}", seed); }

TEST(SimulatedGpu, ComputesASoftmaxWithShufflesAndSharedMemory) {
  for (int seed = 0; seed < 5; ++seed) {
    Gpu device = simulated(with_seed(seed));
    EXPECT_LT(softmax_error(device, "softmax_rows"), 1e-7) << seed;
  }
}

TEST(SimulatedGpu, ComputesAProductOnTensorCoresWithTheSameBitsForAnyTileAndOrder) {
  Gpu first = simulated();
  const std::vector<float> expected = product(first, "matmul_64x64", 64, 64);
  EXPECT_LT(product_error(expected), 1e-6);
  EXPECT_EQ(product(first, "matmul_128x32", 128, 32), expected);
  for (int seed = 1; seed < 4; ++seed) {
    Gpu device = simulated(with_seed(seed));
    EXPECT_EQ(product(device, "matmul_64x64", 64, 64), expected) << seed;
  }
  Gpu ampere = simulated("cores=ampere");
  const std::vector<float> other = product(ampere, "matmul_64x64", 64, 64);
  EXPECT_LT(product_error(other), 1e-6);
  EXPECT_NE(other, expected);
}

TEST(SimulatedGpu, ComputesProductsOfBytesExactly) {
  std::vector<int8_t> a(16 * 32), b(8 * 32);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int8_t>(i * 37 % 255 - 127);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int8_t>(i * 91 % 255 - 127);
  Gpu device = simulated();
  DeviceArray first(device, a), second(device, b);
  DeviceArray sums(device, std::vector<int32_t>(16 * 8, 5));
  device.launch("product_s8", {.threads = 32},
                ProductArguments{first.data(), second.data(), sums.data()});
  const std::vector<int32_t> c = sums.values();
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 8; ++column) {
      int32_t expected = 5;
      for (size_t k = 0; k < 32; ++k) expected += a[row * 32 + k] * b[column * 32 + k];
      EXPECT_EQ(c[row * 8 + column], expected) << row << ", " << column;
    }
}

// What is wrong with a kernel shows with one of a few orders of its threads.

double worst_softmax(const char* kernel) {
  double worst = 0;
  for (int seed = 1; seed < 6; ++seed) {
    Gpu device = simulated(with_seed(seed));
    worst = std::max(worst, softmax_error(device, kernel));
  }
  return worst;
}

// ThreadSanitizer reports these itself.
#if defined(__SANITIZE_THREAD__)
#define HEED_SKIP_RACE() GTEST_SKIP()
#else
#define HEED_SKIP_RACE() static_cast<void>(0)
#endif

double worst_product(const char* kernel) {
  double worst = 0;
  for (int seed = 1; seed < 6; ++seed) {
    Gpu device = simulated(with_seed(seed));
    worst = std::max(worst, product_error(product(device, kernel, 64, 64)));
  }
  return worst;
}

TEST(SimulatedGpu, ShowsAMissingBarrier) {
  HEED_SKIP_RACE();
  EXPECT_GT(worst_softmax("softmax_no_barrier"), 1e-3);
  EXPECT_GT(worst_product("matmul_no_barrier"), 1e-3);
}

TEST(SimulatedGpu, ShowsWhatIsReadBeforeItsCopyHasArrived) {
  HEED_SKIP_RACE();
  EXPECT_GT(worst_product("matmul_early_read"), 1e-3);
}

TEST(SimulatedGpu, ShowsWhatIsOverwrittenWhileItIsRead) {
  HEED_SKIP_RACE();
  EXPECT_GT(worst_product("matmul_early_write"), 1e-3);
}

TEST(SimulatedGpu, ShowsRowsThatAreReadWhereTheyAreNot) {
  EXPECT_GT(worst_product("matmul_wrong_swizzle"), 1e-3);
}

TEST(SimulatedGpu, NamesTheThreadThatWaitsForADivergedWarp) {
  HEED_SKIP_RACE();
  Gpu device = simulated();
  const std::string error = error_of([&] { softmax_error(device, "softmax_divergence"); });
  EXPECT_NE(error.find("kernel softmax_divergence, block ("), error.npos) << error;
  EXPECT_NE(error.find("thread 0: deadlock: waits for lanes of its warp that are elsewhere or have "
                       "ended"),
            error.npos)
      << error;
}

// What a driver can answer is one clear message.

TEST(Gpu, ListsTheGpusOfTheMachine) {
  simulated("devices=2,memory=64,capability=80");
  const std::vector<GpuProperties> all = gpus();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, "simulated GPU");
  EXPECT_EQ(all[1].ordinal, 1);
  EXPECT_EQ(all[1].major, 8);
  EXPECT_EQ(all[1].minor, 0);
  EXPECT_EQ(all[1].memory_bytes, size_t{64} << 20);
}

TEST(Gpu, RefusesAGpuThatIsMissingOrTooOld) {
  EXPECT_EQ(error_of([] { simulated("devices=0"); }), "there is no GPU 0: this machine has 0");
  EXPECT_EQ(error_of([] { simulated("capability=75"); }),
            "GPU 0 (simulated GPU) has compute capability 7.5, heed needs 8.0 (Ampere) or later");
}

TEST(Gpu, SaysHowMuchMemoryIsWantedAndFree) {
  Gpu device = simulated("memory=1");
  const std::shared_ptr<std::byte> half = device.allocate(size_t{1} << 19);
  EXPECT_EQ(device.allocated_bytes(), size_t{1} << 19);
  EXPECT_EQ(
      error_of([&] { device.allocate((size_t{1} << 19) + 1); }),
      "out of memory on GPU 0 (simulated GPU): 528,384 bytes could not be allocated, 524,288 are "
      "in use and 520,192 free: fewer tokens at a time or quantised weights (q8_0) need less");
}

TEST(Gpu, UsesFreedMemoryAgainAndReturnsItToTheDriver) {
  // Of each area that the driver gives, 4,096 bytes stay unused.
  constexpr size_t kAll = (size_t{1} << 20) - 4096;
  Gpu device = simulated("memory=1");
  for (int i = 0; i < 10; ++i) device.allocate(kAll);
  EXPECT_EQ(device.allocated_bytes(), 0u);
  EXPECT_EQ(device.peak_allocated_bytes(), kAll);
  const std::shared_ptr<std::byte> kept = device.allocate(4096);
  device.release_free_memory();
  EXPECT_EQ(device.free_bytes(), kAll - 4096);
}

TEST(Gpu, CopiesWhatDoesNotFitIntoItsStagingMemory) {
  Gpu device = simulated();
  for (const size_t count : {size_t{1}, size_t{100000}, size_t{1000000}}) {
    const std::vector<float> values = random_values(count, 4);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(DeviceArray(device, values).values(), values) << count;
  }
}

TEST(Gpu, NamesACallThatTheDriverRefuses) {
  for (const char* call :
       {"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceTotalMem",
        "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate",
        "cuModuleLoadData", "cuMemAlloc", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
        "cuModuleGetFunction", "cuLaunchKernel", "cuStreamSynchronize"}) {
    const std::string error = error_of([&] {
      Gpu device = simulated(fmt::format("fail={}:999", call));
      softmax_error(device, "softmax_rows");
    });
    // Without nvcc there is nothing to load, which is said instead.
    const bool nothing = std::string_view(call) == "cuModuleLoadData" && kernel_images[0].empty();
    EXPECT_NE(error.find(nothing ? "built without kernels for GPUs"
                                 : "error of the simulated GPU (CUDA_ERROR_UNKNOWN)"),
              error.npos)
        << call << ": " << error;
  }
}

}  // namespace
}  // namespace heed::gpu
