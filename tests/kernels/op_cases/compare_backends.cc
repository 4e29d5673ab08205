// Every backend computes the cases of op_cases.h: the CPU and the GPU what the reference does, the
// GPU where it says so the CPU's bits. The GPU is simulated unless HEED_TEST_GPU is set. Of the
// cases, those whose names contain HEED_OP_CASES, if it is set.
#include "tests/kernels/op_cases/op_cases.h"

#include <cstdlib>

#include "tests/kernels/test_gpu.h"

namespace heed::kernels {

std::vector<std::function<std::vector<OpCase>()>>& op_case_lists() {
  static std::vector<std::function<std::vector<OpCase>()>> lists;
  return lists;
}

namespace {

std::vector<OpResult> run_on(Backend backend, const OpCase& of) {
  const HostBackendScope host_backend(backend == Backend::reference ? backend : Backend::cpu);
  std::vector<OpResult> results;
  {
    const DeviceScope scope(backend == Backend::gpu ? &test_gpu() : nullptr);
    results = of.run();
  }
  for (OpResult& result : results) result.value = result.value.to(nullptr);
  return results;
}

void compare(const OpCase& of, Backend fast, Backend plain, bool same_bits) {
  const std::vector<OpResult> found = run_on(fast, of), expected = run_on(plain, of);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor &a = found[i].value, &b = expected[i].value;
    const std::string what = of.name + ": " + found[i].name;
    if (same_bits) {
      ASSERT_EQ(a.bytes(), b.bytes()) << what;
      EXPECT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())), 0) << what;
    } else if (is_plain(a.dtype()) && a.dtype() != DType::i32) {
      expect_close(a, b, what, found[i].magnitude);
    } else {
      ASSERT_EQ(a.bytes(), b.bytes()) << what;
      EXPECT_EQ(std::memcmp(a.raw(), b.raw(), static_cast<size_t>(a.bytes())), 0) << what;
    }
  }
}

void compare_all(Backend fast, Backend plain, bool only_same_bits) {
  const char* const part = std::getenv("HEED_OP_CASES");
  bool any = false;
  for (const auto& list : op_case_lists())
    for (const OpCase& of : list()) {
      if (part && of.name.find(part) == of.name.npos) continue;
      any = true;
      if (only_same_bits && !of.same_bits) continue;
      EXPECT_NO_THROW(compare(of, fast, plain, only_same_bits)) << of.name;
    }
  EXPECT_TRUE(any) << "no case has in its name: " << part;
}

TEST(OpCases, CpuAgreesWithReference) { compare_all(Backend::cpu, Backend::reference, false); }
TEST(OpCases, GpuAgreesWithReference) { compare_all(Backend::gpu, Backend::reference, false); }
TEST(OpCases, GpuHasTheBitsOfTheCpu) { compare_all(Backend::gpu, Backend::cpu, true); }

}  // namespace
}  // namespace heed::kernels
