// heed against the logits processors of transformers: tests/golden/sampling/make.py made the
// expected values.
#include "heed/generate/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"

namespace heed::generate {
namespace {

constexpr float kNever = std::numeric_limits<float>::infinity();

SamplingOptions options_of(const Tensor& values, bool biased) {
  const auto v = values.values<float>();
  SamplingOptions options{.repetition_penalty = v[0],
                          .temperature = v[1],
                          .top_k = static_cast<int64_t>(v[2]),
                          .top_p = v[3],
                          .min_p = v[4]};
  if (biased) options.logit_bias = {{4, 2.5f}, {17, -3.0f}, {50, -kNever}};
  return options;
}

class SamplingGolden : public testing::TestWithParam<const char*> {};

TEST_P(SamplingGolden, ProbabilitiesAreThoseOfTransformers) {
  const std::string name = GetParam();
  const auto file = io::SafetensorsFile::open(std::filesystem::path(HEED_SOURCE_DIR) /
                                              "tests/golden/sampling/expected.safetensors");
  const SamplingOptions options = options_of(file->get(name + ".options"), name.starts_with("all"));
  const Tensor logits = file->get("logits"), tokens = file->get("tokens");
  const Tensor expected = file->get(name);
  for (int64_t row = 0; row < logits.rows(); ++row) {
    const auto values = logits.row_slice(row, row + 1).values<float>();
    std::vector<float> adjusted(values.begin(), values.end());
    TokenCounts counts;
    counts.add_prompt(tokens.row_slice(row, row + 1).values<int32_t>());
    adjust_logits(options, counts, TokenLogits(adjusted));
    std::vector<double> found(adjusted.size(), 0.0);
    for (const auto& [token, probability] : candidates(options, TokenLogits(adjusted)))
      found[static_cast<size_t>(token)] = probability;
    for (size_t token = 0; token < found.size(); ++token)
      EXPECT_NEAR(found[token], expected.row_slice(row, row + 1).values<float>()[token], 1e-6)
          << "row " << row << " token " << token;
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, SamplingGolden,
                         testing::Values("temperature", "hot", "top_k", "top_p", "narrow_top_p",
                                         "min_p", "repetition", "encouraged", "all", "all_hot"),
                         [](const auto& chain) { return std::string(chain.param); });

TEST(Sampling, PresenceAndFrequencyPenaltiesCountOnlyTheOutput) {
  const SamplingOptions options{.presence_penalty = 0.5f, .frequency_penalty = 0.25f};
  TokenCounts counts;
  counts.add_prompt(std::vector<int32_t>{0, 1});
  for (const int32_t token : {1, 2, 2, 2}) counts.add_output(token);
  std::vector<float> logits{1.0f, 1.0f, 1.0f, 1.0f};
  adjust_logits(options, counts, TokenLogits(logits));
  EXPECT_EQ(logits, (std::vector<float>{1.0f, 0.25f, -0.25f, 1.0f}));
}

TEST(Sampling, GreedyTakesTheSmallestOfEquallyProbableTokens) {
  std::vector<float> logits{0.0f, 2.0f, 1.0f, 2.0f};
  EXPECT_EQ(sample_token({}, TokenLogits(logits), 0, 0), 1);
}

TEST(Sampling, TopKKeepsTheSmallestOfEquallyProbableTokens) {
  std::vector<float> logits{1.0f, 2.0f, 1.0f, 1.0f};
  const auto left = candidates({.temperature = 1.0f, .top_k = 2}, TokenLogits(logits));
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].token, 1);
  EXPECT_EQ(left[1].token, 0);
}

TEST(Sampling, AForbiddenTokenIsNeverChosen) {
  const SamplingOptions options{.logit_bias = {{1, -kNever}}, .temperature = 5.0f};
  std::vector<float> logits{0.0f, 30.0f, 0.0f};
  adjust_logits(options, {}, TokenLogits(logits));
  for (uint64_t step = 0; step < 1000; ++step)
    EXPECT_NE(*sample_token(options, TokenLogits(logits), 0, step), 1);
  std::ranges::fill(logits, -kNever);
  EXPECT_THROW(sample_token(options, TokenLogits(logits), 0, 0), Error);
}

TEST(Sampling, HugeBiasesAndPenaltiesLeaveFiniteLogits) {
  SamplingOptions options{.repetition_penalty = 1e-3f,
                          .logit_bias = {{1, 3e38f}, {1, 3e38f}, {2, 3e38f}},
                          .temperature = 1.0f,
                          .top_p = 0.5f};
  TokenCounts counts;
  counts.add_prompt(std::vector<int32_t>{0});
  std::vector<float> logits{1e38f, 1e38f, 1e38f};
  adjust_logits(options, counts, TokenLogits(logits));
  for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit)) << logit;
  double sum = 0;
  for (const auto& candidate : candidates(options, TokenLogits(logits)))
    sum += candidate.probability;
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_LT(*sample_token(options, TokenLogits(logits), 0, 0), 3);
}

/// The four largest of seven logits, as a device finds them, choose what all do, or nothing.
TEST(Sampling, ChoosesFromTheLargestLogitsOnlyWhatAllWouldGive) {
  std::vector<float> all{0.0f, 5.0f, 3.0f, 5.0f, 1.0f, 2.0f, 1.0f};
  const std::vector<int32_t> tokens{1, 3, 2, 5};
  std::vector<float> some{5.0f, 5.0f, 3.0f, 2.0f};
  const TokenLogits largest(some, tokens, 2.0f);
  EXPECT_EQ(sample_token({}, largest, 0, 0), 1);
  SamplingOptions options{.temperature = 3.0f, .top_k = 3, .top_p = 0.9f};
  for (uint64_t step = 0; step < 100; ++step)
    EXPECT_EQ(sample_token(options, largest, 0, step),
              sample_token(options, TokenLogits(all), 0, step));
  options.top_k = 4;  // the fourth might equal an unknown one
  EXPECT_EQ(sample_token(options, largest, 0, 0), std::nullopt);
  options.top_k = 0;
  EXPECT_EQ(sample_token(options, largest, 0, 0), std::nullopt);
  adjust_logits({.logit_bias = {{1, -9.0f}, {3, -9.0f}, {2, -9.0f}, {6, -9.0f}}}, {}, largest);
  EXPECT_EQ(sample_token({}, largest, 0, 0), std::nullopt);
}

TEST(Sampling, ASampleIsAFunctionOfSeedSequenceAndStep) {
  std::vector<float> logits(1000, 0.0f);
  const SamplingOptions first{.temperature = 1.0f, .seed = 1};
  const SamplingOptions second{.temperature = 1.0f, .seed = 2};
  int equal_seeds = 0, equal_sequences = 0;
  for (uint64_t step = 0; step < 1000; ++step) {
    const int32_t token = *sample_token(first, TokenLogits(logits), 3, step);
    EXPECT_EQ(*sample_token(first, TokenLogits(logits), 3, step), token);
    equal_seeds += token == *sample_token(second, TokenLogits(logits), 3, step);
    equal_sequences += token == *sample_token(first, TokenLogits(logits), 4, step);
  }
  EXPECT_LT(equal_seeds, 10);  // by chance, one in a thousand
  EXPECT_LT(equal_sequences, 10);
}

/// Pearson's chi-squared statistic of 20000 samples with 11 degrees of freedom exceeds 31.3 with
/// probability 0.001.
TEST(Sampling, SamplesFollowTheProbabilities) {
  std::vector<float> logits;
  for (int token = 0; token < 12; ++token) logits.push_back(0.3f * static_cast<float>(token % 7));
  const SamplingOptions options{.temperature = 0.8f};
  const auto expected = candidates(options, TokenLogits(logits));
  constexpr int kSamples = 20000;
  std::vector<int> counted(logits.size(), 0);
  for (int i = 0; i < kSamples; ++i)
    ++counted[static_cast<size_t>(*sample_token(options, TokenLogits(logits),
                                                static_cast<uint64_t>(i / 100),
                                                static_cast<uint64_t>(i % 100)))];
  double statistic = 0;
  for (const auto& [token, probability] : expected)
    statistic += std::pow(counted[static_cast<size_t>(token)] - kSamples * probability, 2) /
                 (kSamples * probability);
  EXPECT_LT(statistic, 31.3);
}

TEST(Sampling, RefusesOptionsOutOfRange) {
  EXPECT_NO_THROW(check({}, 10));
  EXPECT_THROW(check({.temperature = -1.0f}, 10), Error);
  EXPECT_THROW(check({.temperature = std::nanf("")}, 10), Error);
  EXPECT_THROW(check({.top_p = 0.0f}, 10), Error);
  EXPECT_THROW(check({.min_p = 1.5f}, 10), Error);
  EXPECT_THROW(check({.repetition_penalty = 0.0f}, 10), Error);
  EXPECT_THROW(check({.logit_bias = {{10, 1.0f}}}, 10), Error);
  EXPECT_THROW(check({.logit_bias = {{1, std::nanf("")}}}, 10), Error);
}

}  // namespace
}  // namespace heed::generate
