#include "heed/tasks/scorer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/generate/generator.h"
#include "heed/tasks/fill.h"

namespace heed::tasks {
namespace {

model::ModelConfig config_of(int64_t encoder_layers, int64_t decoder_layers) {
  model::ModelConfig config;
  config.vocab_size = 50;
  config.d_model = 16;
  config.n_heads = 4;
  config.d_ff = 32;
  config.encoder_layers = encoder_layers;
  config.decoder_layers = decoder_layers;
  config.max_positions = 32;
  return config;
}

std::vector<int32_t> random_tokens(size_t count) {
  std::vector<int32_t> tokens;
  const CounterRandom random(4);
  for (size_t i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random.below(i, 50)));
  return tokens;
}

TEST(Scorer, EachTokenIsScoredOnceInTheFirstWindowThatContainsIt) {
  const model::Transformer model(config_of(0, 2), 3);
  const std::vector<int32_t> tokens = random_tokens(75);
  const auto scores = score_text(model, tokens, {.window = 20, .stride = 8});
  ASSERT_EQ(scores.size(), tokens.size() - 1);
  for (size_t i = 1; i < tokens.size(); ++i) {
    // The first window that holds token i.
    const size_t begin = i < 20 ? 0 : (i - 20 + 8) / 8 * 8;
    const std::vector<int32_t> seen(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                    tokens.begin() + static_cast<std::ptrdiff_t>(i + 1));
    EXPECT_NEAR(score_text(model, seen, {}).back(), scores[i - 1], 1e-5) << i;
  }
}

TEST(Scorer, ScoresEqualTheLogProbabilitiesOfGeneration) {
  const model::Transformer model(config_of(0, 2), 3);
  const std::vector<int32_t> prompt = random_tokens(6);
  generate::GeneratorOptions options;
  options.max_new_tokens = 10;
  options.sampling.temperature = 1.0f;
  options.top_log_probabilities = 0;
  const Generation output = generate::Generator(model, {}, options).generate({prompt}).front();
  std::vector<int32_t> whole = prompt;
  whole.insert(whole.end(), output.tokens.begin(), output.tokens.end());
  const auto scores = score_text(model, whole, {});
  for (size_t i = 0; i < output.tokens.size(); ++i)
    EXPECT_NEAR(scores[prompt.size() - 1 + i], output.chosen[i].log_probability, 1e-4);
}

TEST(Scorer, RoundsKeysAndValuesAsGenerationDoes) {
  model::ModelConfig config = config_of(0, 2);
  config.head_dim = config.v_head_dim = 32;
  const model::Transformer model(config, 3);
  for (const DType cache : {DType::f32, DType::bf16, DType::q8_0}) {
    generate::GeneratorOptions options;
    options.max_new_tokens = 8;
    options.top_log_probabilities = 0;
    options.cache_dtype = cache;
    const Generation found = generate::Generator(model, {}, options).generate({{3, 9, 4}}).front();
    std::vector<int32_t> all{3, 9, 4};
    all.insert(all.end(), found.tokens.begin(), found.tokens.end());
    const auto scores = score_text(model, all, {}, DType::f32, cache);
    for (size_t i = 0; i < found.tokens.size(); ++i)
      EXPECT_NEAR(scores[2 + i], found.chosen[i].log_probability, 1e-6);
    const auto exact = score_text(model, all, {});
    if (cache != DType::f32) {
      EXPECT_NE(scores, exact);
    }
  }
}

TEST(Scorer, TheScoreOfATargetIsItsNegativeLoss) {
  const model::Transformer model(config_of(2, 2), 3);
  const std::vector<int32_t> source{5, 6, 7, 1}, target{9, 8, 1}, input{0, 9, 8};
  const auto scores = score_target(model, source, target);
  Context context;
  const std::vector<int32_t> source_offsets{0, 4}, offsets{0, 3};
  const auto loss = model.loss(context, {source, source_offsets}, {input, offsets}, target, {});
  EXPECT_NEAR(-std::accumulate(scores.begin(), scores.end(), 0.0), loss.negative_log_likelihood,
              1e-4);
}

TEST(Scorer, RefusesInvalidWindowsTokensAndModels) {
  const model::Transformer model(config_of(0, 2), 3);
  const std::vector<int32_t> tokens = random_tokens(40);
  EXPECT_THROW(score_text(model, tokens, {.window = 33}), Error);
  EXPECT_THROW(score_text(model, tokens, {.window = 1}), Error);
  EXPECT_THROW(score_text(model, tokens, {.window = 8, .stride = 8}), Error);
  EXPECT_THROW(score_text(model, std::vector<int32_t>{1, 50}, {}), Error);
  EXPECT_THROW(score_text(model::Transformer(config_of(2, 0), 3), tokens, {}), Error);
  EXPECT_TRUE(score_text(model, {}, {}).empty());
}

TEST(Perplexity, IsTheInverseOfTheGeometricMean) {
  EXPECT_NEAR(perplexity(std::vector<double>{std::log(0.5), std::log(0.125)}), 4.0, 1e-12);
  EXPECT_EQ(perplexity({}), 1.0);
}

TEST(Fill, GivesTheMostProbableTokensForEachMask) {
  const model::Transformer model(config_of(2, 0), 3);
  const std::vector<int32_t> tokens{2, 49, 7, 49, 3};
  const auto filled = fill_masks(model, tokens, 49, 50);
  ASSERT_EQ(filled.size(), 2u);
  EXPECT_EQ(filled[0].position, 1);
  EXPECT_EQ(filled[1].position, 3);
  for (const FilledMask& mask : filled) {
    ASSERT_EQ(mask.best.size(), 50u);
    double sum = 0;
    for (size_t i = 0; i < mask.best.size(); ++i) {
      sum += mask.best[i].probability;
      if (i) {
        EXPECT_LE(mask.best[i].probability, mask.best[i - 1].probability);
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
  EXPECT_EQ(fill_masks(model, tokens, 49, 3).front().best.size(), 3u);
  EXPECT_THROW(fill_masks(model, std::vector<int32_t>{2, 3}, 49, 3), Error);
  EXPECT_THROW(fill_masks(model::Transformer(config_of(0, 2), 3), tokens, 49, 3), Error);
}

}  // namespace
}  // namespace heed::tasks
