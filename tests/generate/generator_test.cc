#include "heed/generate/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "tests/base/threads.h"
#include "tests/generate/small_decoder.h"

namespace heed::generate {
namespace {

using Prompts = std::vector<std::vector<int32_t>>;

GeneratorOptions greedy(int64_t max_new_tokens, std::vector<int32_t> eos_ids = {}) {
  GeneratorOptions options;
  options.max_new_tokens = max_new_tokens;
  options.rules.eos_ids = std::move(eos_ids);
  return options;
}

Prompts random_prompts(int count) {
  Prompts prompts;
  const CounterRandom random(21);
  uint64_t counter = 0;
  for (int i = 0; i < count; ++i) {
    const uint64_t length = 1 + random.below(counter++, 17);
    std::vector<int32_t>& prompt = prompts.emplace_back();
    for (uint64_t j = 0; j < length; ++j)
      prompt.push_back(static_cast<int32_t>(2 + random.below(counter++, 58)));
  }
  return prompts;
}

/// Greedy decoding by definition: a full forward pass for each token.
std::vector<int32_t> greedy_without_cache(const model::Transformer& model,
                                          const std::vector<int32_t>& prompt, int steps) {
  Context context;
  const std::vector<int32_t> prompt_offsets{0, static_cast<int32_t>(prompt.size())};
  const bool encoded = model.has_encoder();
  const model::Memory memory =
      encoded ? model.encode(context, {prompt, prompt_offsets}) : model::Memory{};
  std::vector<int32_t> input =
      encoded ? std::vector<int32_t>{model.config().decoder_start_id} : prompt;
  const size_t given = input.size();
  for (int step = 0; step < steps; ++step) {
    const std::vector<int32_t> offsets{0, static_cast<int32_t>(input.size())};
    const Tensor states = model.decode_all(context, {input, offsets}, memory);
    const Tensor logits = model.logits(context, states.row_slice(states.rows() - 1, states.rows()));
    const auto row = logits.values<float>();
    const auto best = static_cast<int32_t>(std::max_element(row.begin(), row.end()) - row.begin());
    if (best == model.config().eos_id) break;
    input.push_back(best);
  }
  return {input.begin() + static_cast<std::ptrdiff_t>(given), input.end()};
}

class GeneratorOf : public testing::TestWithParam<DecoderVariant> {};

TEST_P(GeneratorOf, GreedyDecodingEqualsFullForwardPasses) {
  const auto model = varied_model(GetParam());
  const Prompts prompts = random_prompts(12);
  const Generator generator(*model, {}, greedy(20, {1}));
  const auto found = generator.generate(prompts);
  for (size_t i = 0; i < prompts.size(); ++i) {
    const auto expected = greedy_without_cache(*model, prompts[i], 20);
    EXPECT_EQ(found[i].tokens, expected);
    EXPECT_EQ(found[i].finish_reason,
              expected.size() == 20 ? FinishReason::length : FinishReason::stop);
    EXPECT_FALSE(found[i].stop_string);
  }
}

TEST_P(GeneratorOf, ABf16CacheDoesNotDependOnTheBatchAndChangesLittle) {
  const auto model = varied_model(GetParam());
  const Prompts prompts = random_prompts(12);
  GeneratorOptions options = greedy(6);
  options.top_log_probabilities = 0;
  const auto exact = Generator(*model, {}, options).generate(prompts);
  options.cache_dtype = DType::bf16;
  const Generator generator(*model, {}, options);
  const auto batched = generator.generate(prompts);
  for (size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(generator.generate({prompts[i]}).front().tokens, batched[i].tokens);
    EXPECT_NEAR(batched[i].chosen[0].log_probability, exact[i].chosen[0].log_probability, 0.2);
  }
}

TEST_P(GeneratorOf, AnOutputDoesNotDependOnItsBatchOrTheThreads) {
  const auto model = varied_model(GetParam());
  const Prompts prompts = random_prompts(40);
  for (const float temperature : {0.0f, 1.2f}) {
    GeneratorOptions options = greedy(20, {1, 3});
    options.sampling.repetition_penalty = 1.1f;
    options.sampling.frequency_penalty = 0.1f;
    options.sampling.temperature = temperature;
    options.sampling.top_p = 0.95f;
    options.batch_tokens = 500;
    const Generator generator(*model, {}, options);
    const auto batched = [&] {
      const Threads two(2);
      return generator.generate(prompts);
    }();
    const Threads one(1);
    for (size_t i = 0; i < prompts.size(); ++i) {
      const auto alone = generator.generate({prompts[i]}, i).front();
      EXPECT_EQ(alone.tokens, batched[i].tokens) << "prompt " << i;
      EXPECT_EQ(alone.finish_reason, batched[i].finish_reason);
    }
  }
}

TEST_P(GeneratorOf, OneBeamIsGreedyAndMoreBeamsFindMoreProbableOutputs) {
  const auto model = varied_model(GetParam());
  const Prompts prompts = random_prompts(10);
  const Generator generator(*model, {}, greedy(12, {1, 3}));
  const auto plain = generator.generate(prompts);
  const auto one = generator.search(prompts, {.length_penalty = 0.0f});
  const auto wide =
      generator.search(prompts, {.num_beams = 8, .n_best = 3, .length_penalty = 0.0f});
  int better = 0;
  for (size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(one[i].front().tokens, plain[i].tokens);
    EXPECT_EQ(wide[i].size(), 3u);
    better += wide[i].front().score > one[i].front().score - 1e-6;
  }
  EXPECT_GE(better, 9);  // beam search may lose the greedy path, but rarely
}

TEST_P(GeneratorOf, LogProbabilitiesAreThoseBeforePenaltiesAndTemperature) {
  const auto model = varied_model(GetParam());
  const Prompts prompts = random_prompts(4);
  GeneratorOptions options = greedy(6);
  options.sampling.frequency_penalty = 1.0f;
  options.sampling.temperature = 2.0f;
  options.top_log_probabilities = 60;
  for (const Generation& found : Generator(*model, {}, options).generate(prompts)) {
    ASSERT_EQ(found.chosen.size(), 6u);
    for (size_t i = 0; i < found.tokens.size(); ++i) {
      double sum = 0;
      for (const auto& [token, log_probability, forbidden] : found.best[i]) {
        sum += std::exp(log_probability);
        if (token == found.tokens[i]) {
          EXPECT_EQ(log_probability, found.chosen[i].log_probability);
        }
      }
      EXPECT_NEAR(sum, 1.0, 1e-9);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GeneratorOf, testing::ValuesIn(kDecoderVariants),
                         [](const auto& c) { return std::string(c.param.name); });

/// Heads as wide as a block of q8_0.
const DecoderVariant kWideHeads{"wide heads", [](model::ModelConfig& c) {
                                  c.n_kv_heads = 2;
                                  c.head_dim = c.v_head_dim = 32;
                                }};

TEST(Generator, AnInt8CacheDoesNotDependOnTheBatchAndChangesLittle) {
  const auto model = varied_model(kWideHeads);
  const Prompts prompts = random_prompts(12);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    GeneratorOptions options = greedy(6);
    options.dtype = dtype;
    options.top_log_probabilities = 0;
    const auto exact = Generator(*model, {}, options).generate(prompts);
    options.cache_dtype = DType::q8_0;
    const Generator generator(*model, {}, options);
    const auto batched = generator.generate(prompts);
    for (size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(generator.generate({prompts[i]}).front().tokens, batched[i].tokens);
      EXPECT_NEAR(batched[i].chosen[0].log_probability, exact[i].chosen[0].log_probability, 0.2);
    }
  }
}

TEST(Generator, RefusesAnInt8CacheForUnsuitableHeads) {
  for (const DecoderVariant& c :
       {kDecoderVariants[0], kDecoderVariants[2]}) {  // head_dim 8, and latent attention
    const auto model = varied_model(c);
    GeneratorOptions options = greedy(6);
    options.cache_dtype = DType::q8_0;
    EXPECT_THROW(Generator(*model, {}, options).generate({{5, 7}}), Error) << c;
  }
}

TEST(Generator, EndsAtTheContextLength) {
  const auto model = varied_model(kDecoderVariants[0]);
  const std::vector<int32_t> prompt(60, 5);
  const Generator generator(*model, {}, greedy(100));
  EXPECT_EQ(generator.generate({prompt}).front().tokens.size(), 5u);
  EXPECT_EQ(generator.generate({std::vector<int32_t>(64, 5)}).front().tokens.size(), 1u);
}

TEST(Generator, RefusesPromptsThatTheModelCannotRead) {
  const auto model = varied_model(kDecoderVariants[0]);
  const Generator generator(*model, {}, {});
  EXPECT_THROW(generator.generate({std::vector<int32_t>(65, 5)}), Error);
  EXPECT_THROW(generator.generate({{}}), Error);
  EXPECT_THROW(generator.generate({{60}}), Error);
  EXPECT_THROW(generator.generate({{-1}}), Error);
}

std::string message_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Generator, NamesTheFirstInvalidPromptByItsNumberAmongAll) {
  const auto model = varied_model(kDecoderVariants[0]);
  const Generator generator(*model, {}, {});
  const Prompts prompts{{5}, {60}, {}};
  EXPECT_EQ(message_of([&] { generator.generate(prompts, 40); }),
            "prompt 42: token 60 is outside the vocabulary of 60 tokens");
  EXPECT_EQ(message_of([&] { generator.search(prompts, {.num_beams = 2}, 40); }),
            "prompt 42: token 60 is outside the vocabulary of 60 tokens");
  EXPECT_EQ(message_of([&] {
              generator.search({{5}, {}}, {.num_beams = 2});
            }),
            "prompt 2: no tokens");
}

TEST(Generator, ReportsDamagedWeights) {
  const auto model = varied_model(kDecoderVariants[0]);
  model->parameters().all().front().value.data<float>()[100] =
      std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(Generator(*model, {}, {}).generate({{5, 7}}), Error);
}

TEST(Generator, RefusesAModelThatCannotGenerate) {
  model::ModelConfig config = small_decoder();
  config.encoder_layers = 2;
  config.decoder_layers = 0;
  const model::Transformer encoder(config, 1);
  EXPECT_THROW(Generator(encoder, {}, {}), Error);
}

}  // namespace
}  // namespace heed::generate
