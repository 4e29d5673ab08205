#include "heed/generate/translator.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "tests/base/testing.h"
#include "tests/base/threads.h"

namespace heed::generate {
namespace {

const text::TranslationTokenizer& tokenizer() {
  static const text::TranslationTokenizer shared =
      text::TranslationTokenizer::shared(text::SentencePiece::load(
          std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece/bpe.model"));
  return shared;
}

model::ModelConfig translator_config() {
  model::ModelConfig config;
  config.vocab_size = tokenizer().vocab_size();
  config.d_model = 16;
  config.encoder_layers = config.decoder_layers = 2;
  config.n_heads = 4;
  config.d_ff = 32;
  config.max_positions = 64;
  config.decoder_start_id = 1;
  config.eos_id = tokenizer().encode_source("").back();
  return config;
}

/// A model whose translations vary with the line and sometimes end early.
std::unique_ptr<model::Transformer> varied_translator() {
  auto model = std::make_unique<model::Transformer>(translator_config(), 5);
  Tensor& table = model->parameters().named("model.shared.weight").value;
  for (int64_t i = 0; i < table.elements(); ++i) table.data<float>()[i] *= 3;
  model->parameters().named("final_logits_bias").value.data<float>()[translator_config().eos_id] =
      4.0f;
  return model;
}

/// Lines of many lengths, some empty.
std::vector<std::string> lines(int count) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    std::string line;
    for (int word = 0; word < (i * 7) % 11; ++word)
      line += std::string("the old sailor forgot ").substr(static_cast<size_t>((i + word) % 9), 8);
    lines.push_back(line);
  }
  return lines;
}

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
  const std::vector<std::string> all = lines(120);
  for (const int beam : {1, 4}) {
    const SearchOptions search{.num_beams = beam, .n_best = beam};
    const auto translate = [&](const std::vector<std::string>& some, int64_t batch_tokens) {
      return Translator(*model, tokenizer(),
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
  const auto found = Translator(*model, tokenizer(), {}).translate({"", "the", ""});
  EXPECT_TRUE(found[0].candidates.empty());
  EXPECT_EQ(found[1].candidates.size(), 1u);
  EXPECT_TRUE(found[2].candidates.empty());
}

TEST(Translator, GreedySearchFindsTheSameTokensWithoutScores) {
  const auto model = varied_translator();
  const std::vector<std::string> all = lines(60);
  const auto scored = Translator(*model, tokenizer(), {.scores = true}).translate(all);
  const auto plain = Translator(*model, tokenizer(), {}).translate(all);
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
  std::vector<std::string> all = lines(300);
  all[250] = "broken \xff";
  for (int word = 0; word < 100; ++word) all[80] += " sailor";
  all[81] = all[80];
  const Translator translator(*model, tokenizer(), {});
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
  expect_error([&] { Translator(*model, tokenizer(), {.search = {.num_beams = 0}}); },
               "num_beams is 0, expected 1 to 256");
}

TEST(Translator, ReportsDamagedWeightsOnAnyNumberOfThreads) {
  const auto model = varied_translator();
  model->parameters().named("final_logits_bias").value.data<float>()[3] =
      std::numeric_limits<float>::quiet_NaN();
  for (const int threads : {1, 2, 5}) {
    const Threads set(threads);
    const Translator translator(*model, tokenizer(), {.batch_tokens = 256});
    expect_error([&] { translator.translate(lines(200)); }, "its weights are damaged");
  }
}

}  // namespace
}  // namespace heed::generate
