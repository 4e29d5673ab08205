// Outputs that must match a constraint, of a model with random weights.
#include "heed/generate/constrained_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "heed/base/error.h"
#include "heed/generate/generator.h"
#include "heed/text/tokenizer.h"
#include "tests/generate/jobs.h"
#include "tests/generate/small_decoder.h"
#include "tests/generate/small_vocabulary.h"

namespace heed::generate {
namespace {

const char* const kRecord = R"(\{"a":-?[0-9]{1,4},"b":"[a-t]*"(,"c":(true|false|null))?\})";

GeneratorOptions constrained(const char* pattern, float temperature) {
  GeneratorOptions options;
  options.sampling = {.temperature = temperature, .seed = 3};
  options.rules.eos_ids = {0};
  options.max_new_tokens = 60;
  options.constraint = {constrain::compile_regex(pattern), small_vocabulary()};
  return options;
}

std::vector<std::vector<int32_t>> some_prompts(int count) {
  Random random(5);
  std::vector<std::vector<int32_t>> all;
  for (int i = 0; i < count; ++i) all.push_back(random_tokens(random, 1 + random.below(8)));
  return all;
}

TEST(ConstrainedOutput, AnOutputThatEndedMatches) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  const std::regex expected(kRecord);
  for (const float temperature : {0.0f, 1.0f, 5.0f}) {
    const auto found =
        Generator(*model, {}, constrained(kRecord, temperature)).generate(some_prompts(40));
    int ended = 0;
    for (const Generation& one : found) {
      const std::string text = small_text(one.tokens);
      const bool stopped = one.finish_reason == FinishReason::stop;
      ended += stopped;
      EXPECT_EQ(std::regex_match(text, expected), stopped) << text;
    }
    EXPECT_GT(ended, 10) << temperature;
  }
}

TEST(ConstrainedOutput, EndsWhereNothingCanFollow) {
  const auto model = varied_model(kDecoderVariants[0]);
  for (const Generation& one :
       Generator(*model, {}, constrained("(ab|cd)12", 1.0f)).generate(some_prompts(10))) {
    EXPECT_EQ(one.finish_reason, FinishReason::stop);
    EXPECT_TRUE(small_text(one.tokens) == "ab12" || small_text(one.tokens) == "cd12");
  }
}

TEST(ConstrainedOutput, ARequestAloneHasTheTokensThatItHasInABatch) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  const Generator generator(*model, {}, constrained(kRecord, 1.5f));
  const auto prompts = some_prompts(12);
  const auto together = generator.generate(prompts);
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(generator.generate({prompts[i]}, i).front().tokens, together[i].tokens);
}

TEST(ConstrainedOutput, TheHypothesesOfABeamMatch) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  const std::regex expected("[0-9]{3}(,[a-c]{2})*");
  for (const int beams : {1, 4})
    for (const auto& of_prompt :
         Generator(*model, {}, constrained("[0-9]{3}(,[a-c]{2})*", 0.0f))
             .search(some_prompts(5), {.num_beams = beams, .n_best = beams}))
      for (const Hypothesis& one : of_prompt)
        EXPECT_TRUE(!one.complete || std::regex_match(small_text(one.tokens), expected))
            << small_text(one.tokens);
}

/// Over all tokens they sum to 1, and no other token has one.
TEST(ConstrainedOutput, LogProbabilitiesAreThoseOfTheTokensThatMayFollow) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  GeneratorOptions options = constrained("[0-9]{5}", 1.0f);
  options.top_log_probabilities = 60;
  for (const Generation& one : Generator(*model, {}, options).generate(some_prompts(5)))
    for (const auto& best : one.best) {
      double sum = 0;
      for (const TokenLogProbability& token : best) {
        sum += std::exp(token.log_probability);
        EXPECT_TRUE(std::regex_match(small_text({token.token}), std::regex("[0-9]+")));
      }
      EXPECT_NEAR(sum, 1.0, 1e-6);
    }
}

/// A tokenizer of the small vocabulary, which joins "a", "b" and "c", and `":` and `",`.
text::Tokenizer small_tokenizer() {
  nlohmann::json vocabulary;
  const std::vector<std::string> pieces = small_pieces();
  for (size_t id = 0; id < pieces.size(); ++id)
    vocabulary[pieces[id].empty() ? "<" + std::to_string(id) + ">" : pieces[id]] = id;
  return text::Tokenizer::from_json({{"model",
                                      {{"type", "BPE"},
                                       {"vocab", vocabulary},
                                       {"merges", {"a b", "ab c", "b c", "\" :", "{ \""}}}},
                                     {"added_tokens", nlohmann::json::array()},
                                     {"decoder", {{"type", "Fuse"}}}},
                                    "tokenizer.json");
}

TEST(ConstrainedOutput, WhatMustComeNextIsTokenizedAndNotChosen) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  GeneratorOptions options = constrained(R"(\{"abc":[0-9]{3},"bcab":(abcde|abcfg)\})", 2.0f);
  options.top_log_probabilities = 2;
  const text::Tokenizer tokenizer = small_tokenizer();
  for (const Generation& one : Generator(*model, tokenizer, options).generate(some_prompts(20))) {
    EXPECT_EQ(one.finish_reason, FinishReason::stop);
    std::vector<std::string> chosen, forced;
    for (size_t i = 0; i < one.tokens.size(); ++i)
      (one.best[i].size() == 1 ? forced : chosen).push_back(small_text({one.tokens[i]}));
    // Behind the digits `,"` and what follows are certain; "ab" might have become "abc".
    const std::string text = small_text(one.tokens);
    EXPECT_TRUE(std::regex_match(text, std::regex(R"(\{"abc":\d{3},"bcab":abc(de|fg)\})"))) << text;
    EXPECT_EQ(forced.front(), "{\"");
    EXPECT_TRUE(std::ranges::count(forced, "\":") == 2) << text;
    EXPECT_EQ(forced.back(), "}");
    EXPECT_LE(chosen.size(), 5u) << text;
    EXPECT_EQ(one.chosen.front().log_probability, 0.0);
  }
}

/// The same tokens as without, but for the end of those that would have been cut off.
TEST(ConstrainedOutput, IsCompletedWithinItsLimit) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  const char* const pattern = R"(\{"a":"[a-t]*","b":\[[0-9]{2,}(,[0-9]{2,})*\]\})";
  GeneratorOptions options = constrained(pattern, 2.0f);
  options.constraint.complete = true;
  int closed = 0;
  for (const int64_t limit : {12, 13, 14, 17, 25, 40}) {
    options.max_new_tokens = limit;
    for (const bool with_tokenizer : {false, true}) {
      std::optional<text::Tokenizer> tokenizer;
      if (with_tokenizer) tokenizer = small_tokenizer();
      for (const Generation& one :
           Generator(*model, tokenizer, options).generate(some_prompts(20))) {
        EXPECT_LE(std::ssize(one.tokens), limit);
        EXPECT_EQ(one.finish_reason, FinishReason::stop);
        EXPECT_TRUE(std::regex_match(small_text(one.tokens), std::regex(pattern)))
            << small_text(one.tokens);
        closed += std::ssize(one.tokens) == limit;
      }
    }
  }
  EXPECT_GT(closed, 20);
  options.max_new_tokens = 3;
  expect_error([&] { Generator(*model, {}, options).generate(some_prompts(1)); },
               "3 tokens are too few for the shortest output");
}

TEST(ConstrainedOutput, FreeLogProbabilitiesAreThoseOfTheModel) {
  const auto model = varied_model(kDecoderVariants[0], 128);
  GeneratorOptions options = constrained(R"(\{"abc":[0-9]{3},"bcab":(abcde|abcfg)\})", 2.0f);
  options.top_log_probabilities = 60;
  const auto prompts = some_prompts(10);
  const text::Tokenizer tokenizer = small_tokenizer();
  const auto under = Generator(*model, tokenizer, options).generate(prompts);
  options.constraint.free_log_probabilities = true;
  const auto free = Generator(*model, tokenizer, options).generate(prompts);
  for (size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(free[i].tokens, under[i].tokens);
    GeneratorOptions unconstrained;
    unconstrained.max_new_tokens = 1;
    unconstrained.top_log_probabilities = 60;
    for (size_t t = 0; t < free[i].tokens.size(); ++t) {
      std::vector<int32_t> so_far = prompts[i];
      so_far.insert(so_far.end(), free[i].tokens.begin(), free[i].tokens.begin() + t);
      const Generation next = Generator(*model, {}, unconstrained).generate({so_far}).front();
      const auto& best = next.best.empty() ? next.best_at_end : next.best.front();
      const auto own = std::ranges::find(best, free[i].tokens[t], &TokenLogProbability::token);
      ASSERT_NE(own, best.end());
      EXPECT_NEAR(own->log_probability, free[i].chosen[t].log_probability, 1e-4);
      EXPECT_EQ(free[i].best[t].size(), 60u);
      EXPECT_EQ(std::ranges::find(free[i].best[t], free[i].tokens[t], &TokenLogProbability::token)
                    ->forbidden,
                "");
      EXPECT_TRUE(std::ranges::any_of(free[i].best[t], [](const TokenLogProbability& one) {
        return one.forbidden.find("expected ") != std::string::npos;
      }));
    }
  }
}

TEST(ConstrainedOutput, TheOutputsOfAnEncoderDecoderMatch) {
  const auto model = varied_model(kDecoderVariants[5], 128);
  ASSERT_TRUE(model->has_encoder());
  for (const Generation& one :
       Generator(*model, small_tokenizer(), constrained("(ab|cd)12[0-9]", 1.0f))
           .generate(some_prompts(10)))
    EXPECT_TRUE(std::regex_match(small_text(one.tokens), std::regex("(ab|cd)12[0-9]")));
}

TEST(ConstrainedOutput, HasTheBytesOfATokenizersTokens) {
  std::ifstream file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/tokenizers/gpt2.json");
  const auto tokenizer = text::Tokenizer::from_json(nlohmann::json::parse(file), "gpt2.json");
  const auto vocabulary = output_vocabulary(tokenizer, tokenizer.vocab_size() + 3, {});
  EXPECT_EQ(vocabulary->size(), tokenizer.vocab_size() + 3);
  for (const int32_t id : tokenizer.encode("{\"naïve\": 12}", false))
    EXPECT_EQ(vocabulary->bytes(id), tokenizer.token_bytes(id));
  EXPECT_EQ(vocabulary->bytes(static_cast<int32_t>(tokenizer.vocab_size())), "");
}

}  // namespace
}  // namespace heed::generate
