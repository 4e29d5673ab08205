#include "heed/generate/token_rules.h"

#include <gtest/gtest.h>

#include <limits>

namespace heed::generate {
namespace {

constexpr float kForbiddenLogit = -std::numeric_limits<float>::infinity();
using Ids = std::vector<int32_t>;

struct Sequence {
  Ids source = {}, prompt = {}, output = {};
  int64_t max_new_tokens = 100;
};

/// Logits of 1 for ten tokens after the rules.
std::vector<float> applied(const TokenRules& rules, const Sequence& s) {
  std::vector<float> logits(10, 1.0f);
  apply_rules(rules,
              {.source = s.source,
               .prompt = s.prompt,
               .output = s.output,
               .max_new_tokens = s.max_new_tokens},
              TokenLogits(logits));
  return logits;
}

Ids forbidden(const TokenRules& rules, const Sequence& sequence) {
  const std::vector<float> logits = applied(rules, sequence);
  Ids ids;
  for (size_t id = 0; id < logits.size(); ++id)
    if (logits[id] == kForbiddenLogit) ids.push_back(static_cast<int32_t>(id));
  return ids;
}

const Ids kAllButEnd{1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(TokenRules, NGramsDoNotOccurTwiceInPromptAndOutput) {
  EXPECT_EQ(forbidden({.no_repeat_ngram_size = 1}, {.prompt = {2}, .output = {5}}), (Ids{2, 5}));
  const TokenRules three{.no_repeat_ngram_size = 3};
  EXPECT_EQ(forbidden(three, {.prompt = {1, 2, 3, 1}, .output = {2}}), Ids{3});
  EXPECT_EQ(forbidden(three, {.prompt = {1, 2}, .output = {}}), Ids{});
  EXPECT_EQ(forbidden(three, {.prompt = {1, 2, 3, 1}, .output = {4}}), Ids{});
  EXPECT_EQ(forbidden(three, {.prompt = {1}, .output = {2, 3, 1, 2, 4, 1, 2}}), (Ids{3, 4}));
}

TEST(TokenRules, NGramsOfTheSourceDoNotOccur) {
  const TokenRules rules{.encoder_no_repeat_ngram_size = 2};
  EXPECT_EQ(forbidden(rules, {.source = {4, 5, 4, 6}, .prompt = {0}, .output = {4}}), (Ids{5, 6}));
  EXPECT_EQ(forbidden(rules, {.source = {4, 5, 4, 6}, .prompt = {0}, .output = {5, 6}}), Ids{});
  // Without an encoder the prompt is the source, the output is not.
  EXPECT_EQ(forbidden(rules, {.prompt = {4, 5}, .output = {4, 7, 4}}), Ids{5});
}

TEST(TokenRules, BadWordsAreForbiddenWhereTheyWouldEnd) {
  const TokenRules rules{.bad_words = {{{3}, kForbiddenLogit},
                                       {{4, 5}, kForbiddenLogit},
                                       {{4, 6, 7}, kForbiddenLogit}}};
  EXPECT_EQ(forbidden(rules, {.prompt = {1}}), Ids{3});
  EXPECT_EQ(forbidden(rules, {.prompt = {4}}), (Ids{3, 5}));
  EXPECT_EQ(forbidden(rules, {.prompt = {4}, .output = {6}}), (Ids{3, 7}));
}

TEST(TokenRules, AnOutputDoesNotEndBeforeItsLeastLength) {
  const TokenRules whole{.eos_ids = {0, 70}, .min_length = 3},
      own{.eos_ids = {0}, .min_new_tokens = 2};
  EXPECT_EQ(forbidden(whole, {.prompt = {1, 2}}), Ids{0});
  EXPECT_EQ(forbidden(whole, {.prompt = {1, 2, 3}}), Ids{});
  EXPECT_EQ(forbidden(own, {.prompt = {1, 2, 3}, .output = {4}}), Ids{0});
  EXPECT_EQ(forbidden(own, {.prompt = {1, 2, 3}, .output = {4, 5}}), Ids{});
  // A forced first token is new: it follows the start token.
  EXPECT_EQ(forbidden(own, {.source = {1}, .prompt = {1, 2}}), Ids{0});
  EXPECT_EQ(forbidden(own, {.source = {1}, .prompt = {1, 2}, .output = {4}}), Ids{});
}

TEST(TokenRules, TheFirstAndTheLastTokenMayBeForced) {
  const TokenRules first{.forced_bos_id = 0}, last{.forced_eos_ids = {0}};
  EXPECT_EQ(forbidden(first, {.prompt = {5}}), kAllButEnd);
  EXPECT_EQ(forbidden(first, {.prompt = {5, 6}}), Ids{});
  EXPECT_EQ(forbidden(last, {.prompt = {5}, .output = {6}, .max_new_tokens = 2}), kAllButEnd);
  EXPECT_EQ(forbidden(last, {.prompt = {5}, .output = {6}, .max_new_tokens = 3}), Ids{});
}

TEST(TokenRules, SuppressedTokensAreForbiddenAlwaysOrAtTheBeginning) {
  const TokenRules rules{.suppress_tokens = {3, 99}, .begin_suppress_tokens = {4}};
  EXPECT_EQ(forbidden(rules, {.prompt = {1, 2}}), (Ids{3, 4}));
  EXPECT_EQ(forbidden(rules, {.prompt = {1, 2}, .output = {5}}), Ids{3});
  TokenRules forced = rules;
  forced.forced_bos_id = 7;
  EXPECT_EQ(forbidden(forced, {.prompt = {1}, .output = {7}}), (Ids{3, 4}));
}

TEST(TokenRules, BiasesOfOneTokenAreSummed) {
  const TokenRules rules{.sequence_bias = {{{3}, 0.5f}, {{1, 3}, 2.0f}, {{2, 3}, 9.0f}}};
  EXPECT_EQ(applied(rules, {.prompt = {1}})[3], 3.5f);
  EXPECT_EQ(applied(rules, {.prompt = {4}})[3], 1.5f);
}

TEST(TokenRules, PenaltiesAndDecayScaleLogits) {
  const Sequence sequence{.source = {4, 4}, .prompt = {2}, .output = {3}};
  EXPECT_EQ(applied({.repetition_penalty = 2}, sequence)[2], 0.5f);
  EXPECT_EQ(applied({.repetition_penalty = 2}, sequence)[3], 0.5f);
  EXPECT_EQ(applied({.encoder_repetition_penalty = 2}, sequence)[4], 2.0f);
  const TokenRules decay{.eos_ids = {0}, .length_decay = LengthDecay{1, 1.5}};
  EXPECT_EQ(applied(decay, {.prompt = {2}, .output = {3}})[0], 1.0f);
  EXPECT_EQ(applied(decay, {.prompt = {2}, .output = {3, 3, 3}})[0], 2.25f);
}

}  // namespace
}  // namespace heed::generate
