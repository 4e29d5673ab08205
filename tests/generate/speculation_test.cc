// Speculative decoding: the same outputs, in fewer passes.
#include "heed/generate/speculation/speculation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/generate/generator.h"
#include "heed/generate/speculation/model_drafts.h"
#include "heed/generate/speculation/ngram_drafts.h"
#include "heed/kernels/softmax.h"
#include "tests/generate/jobs.h"
#include "tests/generate/small_decoder.h"
#include "tests/generate/small_vocabulary.h"

namespace heed::generate {
namespace {

using Prompts = std::vector<std::vector<int32_t>>;

/// Drafts so many tokens of a source, however fast.
class AlwaysDrafting : public Drafter {
 public:
  AlwaysDrafting(std::unique_ptr<DraftSource> source, int64_t tokens)
      : source_(std::move(source)), tokens_(tokens) {}

  void draft(std::span<DraftRequest> requests, int64_t) override {
    std::vector<DraftSource::Wanted> wanted;
    for (DraftRequest& request : requests)
      if (source_->kind(request) > 0)
        wanted.push_back({&request, std::min(tokens_, request.decoding.max_draft())});
    if (!wanted.empty()) source_->draft(wanted);
  }
  void verified(std::span<const int64_t>) override {}
  void forget(uint64_t id) override { source_->forget(id); }

 private:
  std::unique_ptr<DraftSource> source_;
  int64_t tokens_;
};

std::shared_ptr<Drafter> model_drafter(const model::Transformer& model, int64_t tokens = 4) {
  return std::make_shared<AlwaysDrafting>(
      std::make_unique<ModelDrafts>(model,
                                    ModelDraftsOptions{.vocab_size = 60, .max_cached_tokens = 100}),
      tokens);
}

std::shared_ptr<Drafter> ngram_drafter() {
  return std::make_shared<AlwaysDrafting>(std::make_unique<NgramDrafts>(), 5);
}

GeneratorOptions limited(int64_t max_new_tokens, float temperature = 0) {
  GeneratorOptions options;
  options.max_new_tokens = max_new_tokens;
  options.sampling.temperature = temperature;
  return options;
}

Prompts prompts(int count, int64_t length) {
  Random random(5);
  Prompts all;
  for (int i = 0; i < count; ++i) all.push_back(random_tokens(random, 1 + random.below(length)));
  return all;
}

void expect_same(const std::vector<Generation>& found, const std::vector<Generation>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].tokens, expected[i].tokens) << i;
    EXPECT_EQ(found[i].finish_reason, expected[i].finish_reason) << i;
    ASSERT_EQ(found[i].chosen.size(), expected[i].chosen.size());
    for (size_t t = 0; t < found[i].chosen.size(); ++t)
      EXPECT_EQ(found[i].chosen[t].log_probability, expected[i].chosen[t].log_probability);
  }
}

int64_t accepted(const std::vector<Generation>& outputs) {
  int64_t sum = 0;
  for (const Generation& output : outputs) sum += output.accepted_tokens;
  return sum;
}

class SpeculationOf : public testing::TestWithParam<DecoderVariant> {};

TEST_P(SpeculationOf, ChangesNoBitOfGreedyAndSampledOutputs) {
  const auto model = varied_model(GetParam()), other = varied_model(kDecoderVariants[0]);
  const Prompts all = prompts(12, 30);
  const TokenRules rules{.sequence_bias = {{{7}, 2.0f}, {{7, 8}, 3.0f}},
                         .encoder_repetition_penalty = 1.2f,
                         .no_repeat_ngram_size = 2,
                         .min_new_tokens = 6,
                         .forced_eos_ids = {3},
                         .length_decay = LengthDecay{8, 1.1},
                         .begin_suppress_tokens = {9, 10}};
  for (const auto& [temperature, own] :
       {std::pair(0.0f, TokenRules()), std::pair(1.1f, TokenRules()), std::pair(0.0f, rules),
        std::pair(1.1f, rules)}) {
    GeneratorOptions options = limited(30, temperature);
    options.rules = own;
    options.rules.eos_ids = {1, 3};
    options.sampling.repetition_penalty = 1.1f;
    options.sampling.top_p = 0.9f;
    options.top_log_probabilities = 0;
    options.batch_tokens = 200;
    const auto expected = Generator(*model, {}, options).generate(all);
    std::vector<std::function<std::shared_ptr<Drafter>()>> drafters{ngram_drafter};
    if (!model->has_encoder())
      for (const auto* drafts : {&model, &other})
        drafters.emplace_back([drafts] { return model_drafter(**drafts); });
    for (const auto& make : drafters) {
      options.make_drafter = make;
      expect_same(Generator(*model, {}, options).generate(all), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, SpeculationOf, testing::ValuesIn(kDecoderVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST(Speculation, AcceptsEveryDraftOfTheSameModelSampledToo) {
  const auto model = varied_model(kDecoderVariants[0]);
  for (const float temperature : {0.0f, 1.0f}) {
    GeneratorOptions options = limited(30, temperature);
    options.make_drafter = [&] { return model_drafter(*model); };
    for (const Generation& output : Generator(*model, {}, options).generate(prompts(8, 20))) {
      EXPECT_EQ(output.accepted_tokens, output.drafted_tokens);
      EXPECT_EQ(output.accepted_tokens, 23);  // of 29: every fifth token is the model's own
    }
  }
}

TEST(Speculation, AcceptsWhatTheOutputRepeats) {
  const auto model = varied_model(kDecoderVariants[0], 512);
  GeneratorOptions options = limited(300);  // greedy outputs of so small a model end in a circle
  options.make_drafter = ngram_drafter;
  EXPECT_GT(accepted(Generator(*model, {}, options).generate(prompts(2, 20))), 20);
}

TEST(Speculation, ReadsALongPromptInPartsAndEndsWithTheContextOfTheDraft) {
  const auto model = varied_model(kDecoderVariants[0], 2048);
  const auto small = varied_model(kDecoderVariants[0], 1300);
  Random random(9);
  const Prompts long_prompts{random_tokens(random, 1280), random_tokens(random, 1400)};
  GeneratorOptions options = limited(60);
  const auto expected = Generator(*model, {}, options).generate(long_prompts);
  options.make_drafter = [&] { return model_drafter(*small); };
  const auto found = Generator(*model, {}, options).generate(long_prompts);
  expect_same(found, expected);
  EXPECT_GT(found[0].accepted_tokens, 5);
  EXPECT_LE(found[0].accepted_tokens, 20);
  EXPECT_EQ(found[1].drafted_tokens, 0);
}

TEST(Speculation, IgnoresADraftModelWhoseLogitsAreNotFinite) {
  const auto model = varied_model(kDecoderVariants[0]);
  auto damaged = varied_model(kDecoderVariants[0]);
  Parameter& parameter = damaged->parameters().all().front();
  for (int64_t i = 0; i < parameter.value.elements(); ++i)
    parameter.value.data<float>()[i] = std::nanf("");
  GeneratorOptions options = limited(10);
  const auto expected = Generator(*model, {}, options).generate(prompts(3, 9));
  options.make_drafter = [&] { return model_drafter(*damaged); };
  expect_same(Generator(*model, {}, options).generate(prompts(3, 9)), expected);
}

/// Drafts a token that is drawn at random.
class RandomTokens : public Drafter {
 public:
  void draft(std::span<DraftRequest> requests, int64_t) override {
    for (DraftRequest& request : requests)
      if (request.decoding.max_draft() > 0)
        request.draft.push_back(static_cast<int32_t>(random_.below(60)));
  }
  void verified(std::span<const int64_t>) override {}
  void forget(uint64_t) override {}

 private:
  Random random_{4};
};

/// The probabilities of the token after a sequence.
std::vector<double> probabilities(const model::Transformer& model,
                                  const std::vector<int32_t>& sequence) {
  GeneratorOptions options = limited(1);
  options.top_log_probabilities = 60;
  const auto output = Generator(model, {}, options).generate({sequence}).front();
  std::vector<double> result(60);
  for (const auto& [token, log_probability, forbidden] : output.best[0])
    result[static_cast<size_t>(token)] = std::exp(log_probability);
  return result;
}

TEST(Speculation, SamplesFromTheModelsDistribution) {
  constexpr int64_t kDraws = 100000;
  const auto model = varied_model(kDecoderVariants[0]);
  const std::vector<int32_t> prompt{5, 17, 9};
  std::vector<double> expected(60);  // of the second token, before which another is drafted
  const std::vector<double> first = probabilities(*model, prompt);
  for (int32_t a = 0; a < 60; ++a) {
    const std::vector<double> second = probabilities(*model, {5, 17, 9, a});
    for (size_t b = 0; b < 60; ++b) expected[b] += first[static_cast<size_t>(a)] * second[b];
  }
  GeneratorOptions options = limited(3, 1);
  options.make_drafter = [] { return std::make_shared<RandomTokens>(); };
  options.batch_tokens = 6000;
  std::vector<double> counts(60);
  int64_t right = 0;
  const auto outputs =
      Generator(*model, {}, options).generate(Prompts(static_cast<size_t>(kDraws), prompt));
  for (const Generation& output : outputs) {
    ++counts[static_cast<size_t>(output.tokens[1])];
    right += output.accepted_tokens;
  }
  EXPECT_GT(right, kDraws / 200);  // some drafts were right, most were replaced
  double chi_square = 0;
  for (size_t i = 0; i < 60; ++i) {
    const double count = kDraws * expected[i];
    chi_square += (counts[i] - count) * (counts[i] - count) / count;
  }
  // 59 degrees of freedom: 107.9 is exceeded once in 10,000 times.
  EXPECT_LT(chi_square, 107.9);
}

/// Drafts of a constrained output never break its constraint, so that a model that drafts for
/// itself is always right.
TEST(Speculation, DraftsKeepToTheConstraintOfTheOutput) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  for (const float temperature : {0.0f, 1.5f}) {
    GeneratorOptions options = limited(40, temperature);
    options.rules.eos_ids = {0};
    options.constraint = {constrain::compile_regex("([a-e]{3},)*[0-9]+"), small_vocabulary()};
    const auto expected = Generator(*model, {}, options).generate(prompts(8, 6));
    options.make_drafter = [&] { return model_drafter(*model); };
    const auto by_model = Generator(*model, {}, options).generate(prompts(8, 6));
    expect_same(by_model, expected);
    for (const Generation& one : by_model) EXPECT_EQ(one.accepted_tokens, one.drafted_tokens);
    options.make_drafter = ngram_drafter;
    expect_same(Generator(*model, {}, options).generate(prompts(8, 6)), expected);
  }
}

}  // namespace
}  // namespace heed::generate
