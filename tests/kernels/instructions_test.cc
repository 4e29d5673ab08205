#include "heed/kernels/cpu/simd/instructions.h"

#include <fmt/format.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "heed/kernels/cpu/gemm/kernels.h"
#include "heed/kernels/cpu/gemm_blocks/kernels.h"
#include "heed/kernels/cpu/gemm_int8/kernels.h"
#include "heed/kernels/matmul.h"
#include "heed/machine_limits.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"
#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

/// HEED_CPU in programs that start while it lives.
class CpuInEnvironment {
 public:
  explicit CpuInEnvironment(const std::string& value) {
    if (const char* const before = std::getenv("HEED_CPU")) before_ = before;
    ::setenv("HEED_CPU", value.c_str(), 1);
  }
  ~CpuInEnvironment() {
    if (before_)
      ::setenv("HEED_CPU", before_->c_str(), 1);
    else
      ::unsetenv("HEED_CPU");
  }
  CpuInEnvironment(const CpuInEnvironment&) = delete;
  CpuInEnvironment& operator=(const CpuInEnvironment&) = delete;

 private:
  std::optional<std::string> before_;
};

/// Death tests start the program anew, so that it reads HEED_CPU.
class InstructionsDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_start_itself()) GTEST_SKIP() << "the system cannot start this program (binfmt_misc)";
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

#if defined(__x86_64__)
constexpr std::string_view kMachines = "baseline, avx2, avx2_vnni, avx512, avx512_bf16 or amx";
#else
constexpr std::string_view kMachines = "baseline or dotprod";
#endif

/// Whether a product fails because of HEED_CPU.
bool product_is_refused() {
  const Tensor a = normals({2, 3}, 1), b = normals({3, 4}, 2);
  Tensor c = Tensor::empty({2, 4});
  return error_of([&] { matmul({a}, {b}, {}, c); }) ==
         fmt::format("HEED_CPU is \"i386\", expected {}", kMachines);
}

TEST_F(InstructionsDeathTest, WithAnUnknownMachineInTheEnvironmentProductsAreErrors) {
  const CpuInEnvironment unknown("i386");
  EXPECT_EXIT(std::exit(product_is_refused() ? 0 : 1), ::testing::ExitedWithCode(0), "^$");
}

/// What products of many rows use, and with which instructions peaks are measured.
std::string in_use() {
  const auto peak = [](Compute arithmetic) {
    return measure_arithmetic(arithmetic, 0.001).instructions;
  };
  constexpr int64_t kRows = 1000;
  return fmt::format("f32 {}, bf16 {}, blocks {}, int8 {}; peaks f32 {}, bf16 {}, int8 {}",
                     cpu::kernel_for(DType::f32).name, cpu::kernel_for(DType::bf16).name,
                     cpu::block_kernel(kRows).name, cpu::int8_kernel(kRows).name,
                     peak(Compute::f32), peak(Compute::bf16), peak(Compute::int8));
}

struct Kind {
  std::string name;
  std::string_view flags;  // of /proc/cpuinfo
  std::string in_use;
};

#if defined(__aarch64__)

std::vector<Kind> kinds() {
  return {{"baseline", "asimd",
           "f32 f32, bf16 f32, blocks neon, int8 neon; peaks f32 NEON, bf16 NEON, int8 NEON"},
          {"dotprod", "asimd asimddp",
           "f32 f32, bf16 f32, blocks neon_dot, int8 neon_dot; "
           "peaks f32 NEON, bf16 NEON, int8 SDOT"}};
}

/// Those flags that kinds() needs. Under an emulator /proc/cpuinfo may describe another machine.
std::set<std::string> flags_of_machine() {
  const unsigned long bits = ::getauxval(AT_HWCAP);
  std::set<std::string> flags;
  if (bits & HWCAP_ASIMD) flags.insert("asimd");
  if (bits & HWCAP_ASIMDDP) flags.insert("asimddp");
  return flags;
}

#else

std::vector<Kind> kinds() {
  // With sanitizers Highway's kernels are not compiled for AVX-512.
  const std::string_view vectors = kSanitized ? "AVX2" : "AVX-512";
  return {
      {"baseline", "sse4_1 sse4_2",
       "f32 f32, bf16 f32, blocks plain, int8 plain; peaks f32 SSE4, bf16 SSE4, int8 SSE4"},
      {"avx2", "avx2 fma f16c",
       "f32 f32, bf16 f32, blocks avx2, int8 avx2; peaks f32 AVX2, bf16 AVX2, int8 AVX2"},
      {"avx2_vnni", "avx2 fma f16c avx_vnni",
       "f32 f32, bf16 f32, blocks avx_vnni, int8 avx_vnni; "
       "peaks f32 AVX2, bf16 AVX2, int8 AVX-VNNI"},
      {"avx512", "avx512f avx512bw avx512dq avx512vl",
       fmt::format(
           "f32 f32, bf16 f32, blocks avx2, int8 avx512; peaks f32 {0}, bf16 {0}, int8 AVX-512",
           vectors)},
      {"avx512_bf16", "avx512f avx512bw avx512dq avx512vl avx512_vnni avx512_bf16",
       fmt::format("f32 f32, bf16 avx512_bf16, blocks avx512_vnni, int8 avx512_vnni; "
                   "peaks f32 {}, bf16 AVX512-BF16, int8 AVX512-VNNI",
                   vectors)},
      {"amx", "avx512_vnni avx512_bf16 amx_tile amx_int8 amx_bf16",
       fmt::format("f32 amx_bf16x3, bf16 amx, blocks amx, int8 amx; "
                   "peaks f32 {}, bf16 AMX, int8 AMX",
                   vectors)},
  };
}

std::set<std::string> flags_of_machine() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  return {std::istream_iterator<std::string>(cpuinfo), {}};
}

#endif

bool machine_has(const Kind& kind) {
  static const std::set<std::string> has = flags_of_machine();
  std::istringstream flags{std::string(kind.flags)};
  const std::set<std::string> needs{std::istream_iterator<std::string>(flags), {}};
  return std::includes(has.begin(), has.end(), needs.begin(), needs.end());
}

TEST_F(InstructionsDeathTest, EachKindOfMachineUsesItsOwnInstructionsAndNoBetterOnes) {
  for (const Kind& kind : kinds()) {
    if (!machine_has(kind)) continue;
    SCOPED_TRACE(kind.name);
    const CpuInEnvironment cpu(kind.name);
    EXPECT_EXIT((std::fputs(in_use().c_str(), stderr), std::exit(0)), ::testing::ExitedWithCode(0),
                "^" + kind.in_use + "$");
  }
}

}  // namespace
}  // namespace heed::kernels
