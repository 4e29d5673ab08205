// Greedy outputs of a session against transformers, for small random models of every family:
// tests/golden/families/make.py made the continuations.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/session.h"
#include "tests/generate/golden_continuations.h"

namespace heed {
namespace {

/// The tokens before the first end token, which transformers was told to ignore.
std::vector<int32_t> until_end(std::vector<int32_t> tokens, const std::vector<int32_t>& eos_ids) {
  tokens.erase(std::ranges::find_first_of(tokens, eos_ids), tokens.end());
  return tokens;
}

class SessionWith : public testing::TestWithParam<std::string> {};

TEST_P(SessionWith, RequestsThatJoinAtDifferentStepsGetTheTokensOfTransformers) {
  const GoldenContinuations golden = golden_continuations(GetParam());
  const Model model = Model::load(golden.model);
  Session session(model, {.max_prefill_tokens = 3});
  std::vector<std::vector<int32_t>> found(golden.prompts.size());
  for (size_t b = 0; b < golden.prompts.size(); ++b) {
    session.add({.prompt = golden.prompts[b], .options = {.max_new_tokens = golden.length()}},
                [&found, b](const Delta& delta) {
                  EXPECT_EQ(delta.error, nullptr);
                  found[b].insert(found[b].end(), delta.tokens.begin(), delta.tokens.end());
                  return true;
                });
    session.step();
  }
  while (session.step()) {
  }
  for (size_t b = 0; b < found.size(); ++b)
    EXPECT_EQ(found[b], until_end(golden.expected[b], model.eos_ids())) << "prompt " << b;
}

INSTANTIATE_TEST_SUITE_P(Families, SessionWith, testing::ValuesIn(kGeneratingFamilies),
                         test_name_of);

}  // namespace
}  // namespace heed
