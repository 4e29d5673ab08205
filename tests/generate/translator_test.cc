#include "heed/generate/translator.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/base/testing.h"
#include "tests/base/threads.h"
#include "tests/generate/small_translator.h"

namespace heed::generate {
namespace {

void expect_same(const Translation& a, const Translation& b, const std::string& line) {
  ASSERT_EQ(a.candidates.size(), b.candidates.size()) << line;
  for (size_t i = 0; i < a.candidates.size(); ++i) {
    EXPECT_EQ(a.candidates[i].text, b.candidates[i].text) << line;
    EXPECT_EQ(a.candidates[i].hypothesis.tokens, b.candidates[i].hypothesis.tokens) << line;
    EXPECT_EQ(a.candidates[i].hypothesis.score, b.candidates[i].hypothesis.score) << line;
  }
}

TEST(Translator, ATranslationDoesNotDependOnTheBatchOrTheNumberOfThreads) {
  const auto model = varied_translator();
  const std::vector<std::string> all = translator_lines(120);
  for (const int beam : {1, 4}) {
    const SearchOptions search{.num_beams = beam, .n_best = beam};
    const auto translate = [&](const std::vector<std::string>& some, int64_t batch_tokens) {
      return Translator(*model, translator_tokenizer(),
                        {.search = search, .batch_tokens = batch_tokens, .scores = true})
          .translate(some);
    };
    const auto expected = translate(all, 1 << 20);
    for (const int threads : {1, 2, 5}) {
      const Threads set(threads);
      const auto found = translate(all, 512);
      for (size_t i = 0; i < all.size(); ++i) expect_same(found[i], expected[i], all[i]);
    }
    for (size_t i = 0; i < all.size(); i += 7)
      expect_same(translate({all[i]}, 2048).front(), expected[i], all[i]);
  }
}

TEST(Translator, AnEmptyLineHasNoTranslation) {
  const auto model = varied_translator();
  const auto found = Translator(*model, translator_tokenizer(), {}).translate({"", "the", ""});
  EXPECT_TRUE(found[0].candidates.empty());
  EXPECT_EQ(found[1].candidates.size(), 1u);
  EXPECT_TRUE(found[2].candidates.empty());
}

TEST(Translator, GreedySearchFindsTheSameTokensWithoutScores) {
  const auto model = varied_translator();
  const std::vector<std::string> all = translator_lines(60);
  const auto scored = Translator(*model, translator_tokenizer(), {.scores = true}).translate(all);
  const auto plain = Translator(*model, translator_tokenizer(), {}).translate(all);
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(plain[i].candidates.size(), scored[i].candidates.size());
    if (plain[i].candidates.empty()) continue;
    EXPECT_EQ(plain[i].candidates[0].text, scored[i].candidates[0].text);
    EXPECT_EQ(plain[i].candidates[0].hypothesis.score, 0.0);
    EXPECT_LT(scored[i].candidates[0].hypothesis.score, 0.0);
  }
}

TEST(Translator, NamesTheFirstInvalidLine) {
  const auto model = varied_translator();
  std::vector<std::string> all = translator_lines(300);
  all[250] = "broken \xff";
  for (int word = 0; word < 100; ++word) all[80] += " sailor";
  all[81] = all[80];
  const Translator translator(*model, translator_tokenizer(), {});
  for (const int threads : {1, 2, 5}) {
    const Threads set(threads);
    expect_error([&] { translator.translate(all, 11); },
                 "line 91: 454 tokens, the model reads at most 64");
  }
  all[5] = "\xff";
  expect_error([&] { translator.translate(all, 11); }, "line 16: the text is not valid UTF-8");
}

TEST(Translator, RefusesZeroBeams) {
  const auto model = varied_translator();
  expect_error([&] { Translator(*model, translator_tokenizer(), {.search = {.num_beams = 0}}); },
               "num_beams is 0, expected 1 to 256");
}

TEST(Translator, ReportsDamagedWeightsOnAnyNumberOfThreads) {
  const auto model = varied_translator();
  model->parameters().named("final_logits_bias").value.data<float>()[3] =
      std::numeric_limits<float>::quiet_NaN();
  for (const int threads : {1, 2, 5}) {
    const Threads set(threads);
    const Translator translator(*model, translator_tokenizer(), {.batch_tokens = 256});
    expect_error([&] { translator.translate(translator_lines(200)); }, "its weights are damaged");
  }
}

}  // namespace
}  // namespace heed::generate
