// Models on a GPU: a simulated one, or a real one (tests/kernels/test_gpu.h).
#include <gtest/gtest.h>

#include <cstdlib>

#include "heed/checkpoint/model_directory.h"
#include "heed/generate/generator.h"
#include "heed/generate/search.h"
#include "heed/gpu/gpu.h"
#include "tests/generate/golden_continuations.h"
#include "tests/kernels/test_gpu.h"

namespace heed::generate {
namespace {

class OnAGpu : public testing::TestWithParam<std::string> {};

TEST_P(OnAGpu, GreedyOutputsOfABatchEqualThoseOfTransformers) {
  const GoldenContinuations golden = golden_continuations(GetParam());
  const auto model = checkpoint::load_model(golden.model, {}, {.device = &kernels::test_gpu()});
  GeneratorOptions options;
  options.max_new_tokens = golden.length();
  const auto found = Generator(*model, {}, options).generate(golden.prompts);
  ASSERT_EQ(found.size(), golden.expected.size());
  for (size_t b = 0; b < found.size(); ++b)
    EXPECT_EQ(found[b].tokens, golden.expected[b]) << "prompt " << b;
}

INSTANTIATE_TEST_SUITE_P(Families, OnAGpu, testing::ValuesIn(kGeneratingFamilies), test_name_of);

/// The outputs of a model in an arithmetic on a device: sampled, and the best of three beams.
std::vector<std::vector<int32_t>> outputs(const GoldenContinuations& golden, Compute compute,
                                          Device* device, size_t prompts) {
  const auto model = checkpoint::load_model(
      golden.model,
      {.precision = {compute == Compute::int8 ? DType::q8_0 : DType::f32}, .pack = compute},
      {.device = device});
  GeneratorOptions options;
  options.max_new_tokens = 6;
  options.dtype = activation_dtype(compute);
  options.sampling = {.temperature = 0.9f, .seed = 4};
  const std::vector few(golden.prompts.begin(),
                        golden.prompts.begin() + static_cast<std::ptrdiff_t>(prompts));
  const Generator generator(*model, {}, options);
  std::vector<std::vector<int32_t>> all;
  for (const auto& found : generator.generate(few)) all.push_back(found.tokens);
  for (const auto& found : generator.search(few, {.num_beams = 3}))
    all.push_back(found.front().tokens);
  return all;
}

TEST(Device, SampledAndSearchedOutputsEqualThoseOfTheCpu) {
  for (const char* family : {"llama3", "gemma2", "deepseek-v2", "bart"})
    for (const Compute compute : {Compute::f32, Compute::int8}) {
      SCOPED_TRACE(family);
      const GoldenContinuations golden = golden_continuations(family);
      EXPECT_EQ(outputs(golden, compute, &kernels::test_gpu(), 2),
                outputs(golden, compute, nullptr, 2));
    }
}

/// With a driver that starts no graphs, steps of decoding fail; the settings are read by cuInit().
TEST(Device, StepsOfDecodingAreStartedAsGraphs) {
  kernels::test_gpu();
  if (std::getenv("HEED_TEST_GPU")) GTEST_SKIP() << "a real driver does not fail when asked to";
  for (const char* family : {"llama3", "bart", "t5"}) {
    const GoldenContinuations golden = golden_continuations(family);
    const std::string settings = std::getenv("HEED_SIMULATED_GPU");
    ::setenv("HEED_SIMULATED_GPU", (settings + ",fail=cuGraphLaunch:1:0").c_str(), 1);
    gpu::gpus();
    EXPECT_THROW(outputs(golden, Compute::f32, &kernels::test_gpu(), 2), Error) << family;
    ::setenv("HEED_SIMULATED_GPU", settings.c_str(), 1);
    gpu::gpus();
    EXPECT_NO_THROW(outputs(golden, Compute::f32, &kernels::test_gpu(), 2)) << family;
  }
}

TEST(Device, ARequestAloneHasTheTokensThatItHasInABatch) {
  const GoldenContinuations golden = golden_continuations("llama3");
  for (const Compute compute : {Compute::f32, Compute::bf16, Compute::int8}) {
    const auto alone = outputs(golden, compute, &kernels::test_gpu(), 1);
    const auto together = outputs(golden, compute, &kernels::test_gpu(), 4);
    EXPECT_EQ(alone[0], together[0]);
    EXPECT_EQ(alone[1], together[4]);
  }
}

}  // namespace
}  // namespace heed::generate
