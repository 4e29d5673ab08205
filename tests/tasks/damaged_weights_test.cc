// Whatever a model does, logits that are not finite are an error.

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "heed/base/error.h"
#include "heed/generate/generator.h"
#include "heed/generate/search.h"
#include "heed/tasks/fill.h"
#include "heed/tasks/scorer.h"

namespace heed::tasks {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A model that gives `tokens` tokens from id 7 on the logit `value`.
std::unique_ptr<model::Transformer> damaged_model(int64_t encoder_layers, int64_t decoder_layers,
                                                  float value, size_t tokens = 1) {
  model::ModelConfig config;
  config.vocab_size = 50;
  config.d_model = 16;
  config.n_heads = 4;
  config.d_ff = 32;
  config.encoder_layers = encoder_layers;
  config.decoder_layers = decoder_layers;
  config.max_positions = 32;
  auto model = std::make_unique<model::Transformer>(config, 3);
  float* bias = model->parameters().named("final_logits_bias").value.data<float>();
  for (size_t i = 0; i < tokens; ++i) bias[(7 + i) % 50] = value;
  return model;
}

void expect_refused(const std::function<void()>& run) {
  try {
    run();
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the model's logits are not finite: its weights are damaged");
  }
}

class DamagedLogits : public testing::TestWithParam<float> {};

TEST_P(DamagedLogits, AreRefusedByGreedyDecodingSamplingAndBeamSearch) {
  const auto model = damaged_model(0, 2, GetParam());
  const std::vector<std::vector<int32_t>> prompts{{5, 7}};
  generate::GeneratorOptions options;
  expect_refused([&] { generate::Generator(*model, {}, options).generate(prompts); });
  expect_refused(
      [&] { generate::Generator(*model, {}, options).search(prompts, {.num_beams = 3}); });
  options.sampling.temperature = 1.0f;
  options.sampling.top_p = 0.5f;
  expect_refused([&] { generate::Generator(*model, {}, options).generate(prompts); });
}

TEST_P(DamagedLogits, AreRefusedByTranslating) {
  const auto model = damaged_model(2, 2, GetParam());
  const std::vector<std::vector<int32_t>> sources{{5, 7, 1}};
  expect_refused([&] { generate::search(*model, DType::f32, sources, {.num_beams = 4}); });
  expect_refused([&] { generate::search(*model, DType::f32, sources, {.scores = false}); });
}

TEST_P(DamagedLogits, AreRefusedByScoring) {
  const std::vector<int32_t> tokens{5, 8, 9};  // token 7 itself is not scored
  expect_refused([&] { score_text(*damaged_model(0, 2, GetParam()), tokens, {}); });
  expect_refused([&] { score_target(*damaged_model(2, 2, GetParam()), tokens, tokens); });
}

TEST_P(DamagedLogits, AreRefusedByFilling) {
  const std::vector<int32_t> tokens{5, 49, 9};
  expect_refused([&] { fill_masks(*damaged_model(2, 0, GetParam()), tokens, 49, 5); });
}

INSTANTIATE_TEST_SUITE_P(Values, DamagedLogits, testing::Values(kInfinity, kNaN));

TEST(Logits, MayBeMinusInfinityForSomeTokensButNotForAll) {
  generate::GeneratorOptions options;
  options.max_new_tokens = 5;
  const auto some = damaged_model(0, 2, -kInfinity);
  const auto outputs = generate::Generator(*some, {}, options).generate({{5, 7}});
  for (const int32_t token : outputs.front().tokens) EXPECT_NE(token, 7);
  const auto all = damaged_model(0, 2, -kInfinity, 50);
  expect_refused([&] { generate::Generator(*all, {}, options).generate({{5, 7}}); });
}

}  // namespace
}  // namespace heed::tasks
