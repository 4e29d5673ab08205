// Greedy outputs of small random models of every family against transformers:
// tests/golden/families/make.py made the continuations.
#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "heed/generate/generator.h"
#include "tests/generate/golden_continuations.h"

namespace heed::generate {
namespace {

class GeneratedBy : public testing::TestWithParam<std::string> {};

TEST_P(GeneratedBy, GreedyOutputsOfABatchEqualThoseOfTransformers) {
  const GoldenContinuations golden = golden_continuations(GetParam());
  const auto model = checkpoint::load_model(golden.model);
  GeneratorOptions options;
  options.max_new_tokens = golden.length();
  const auto found = Generator(*model, {}, options).generate(golden.prompts);
  ASSERT_EQ(found.size(), golden.expected.size());
  for (size_t b = 0; b < found.size(); ++b)
    EXPECT_EQ(found[b].tokens, golden.expected[b]) << "prompt " << b;
}

INSTANTIATE_TEST_SUITE_P(Families, GeneratedBy, testing::ValuesIn(kGeneratingFamilies),
                         test_name_of);

}  // namespace
}  // namespace heed::generate
