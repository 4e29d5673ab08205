#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "heed/base/file.h"
#include "heed/error.h"
#include "heed/generate/confidence/fit_calibration.h"
#include "heed/generate/confidence/logistic_regression.h"
#include "tests/base/testing.h"

namespace heed::generate {
namespace {

text::TranslationTokenizer tokenizer() {
  return text::TranslationTokenizer::shared(text::SentencePiece::load(
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/sentencepiece/bpe.model"));
}

TEST(WordProbabilities, AreTheProductsOfTheirTokens) {
  const auto pieces = tokenizer();
  const std::string text = "the old sailor forgot";
  Hypothesis hypothesis{.tokens = pieces.encode_target(text)};
  hypothesis.tokens.pop_back();  // the end
  std::vector<double> expected;  // by pieces that begin words
  for (size_t t = 0; t < hypothesis.tokens.size(); ++t) {
    const double value = -0.1 * static_cast<double>(t + 1);
    hypothesis.token_log_probabilities.push_back(value);
    if (pieces.piece(hypothesis.tokens[t]).starts_with("\u2581")) expected.push_back(0);
    expected.back() += value;
  }
  const WordProbabilities found = word_probabilities(pieces, text, hypothesis);
  ASSERT_EQ(found.words.size(), 4u);
  ASSERT_EQ(expected.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found.log_probabilities[i], expected[i], 1e-12) << i;
  EXPECT_GT(hypothesis.tokens.size(), 4u);  // some word has several
  EXPECT_NEAR(found.mean_token_log_probability,
              -0.1 * static_cast<double>(hypothesis.tokens.size() + 1) / 2, 1e-12);
  hypothesis.token_log_probabilities.pop_back();
  EXPECT_THROW(word_probabilities(pieces, text, hypothesis), Error);
}

/// The inverse of a grid of inputs: outcomes are the probabilities themselves.
TEST(LogisticRegression, FindsTheCoefficients) {
  LogisticRegression<3> regression;
  for (int x = -5; x <= 5; ++x)
    for (int y = -5; y <= 5; ++y)
      for (int times = 0; times < 20; ++times)
        regression.add({x * 0.5, y * 0.5, 1}, 1 / (1 + std::exp(-(0.7 * x * 0.5 - y * 0.5 + 0.3))));
  const auto [a, b, c] = regression.fit();
  EXPECT_NEAR(a, 0.7, 1e-3);
  EXPECT_NEAR(b, -1, 1e-3);
  EXPECT_NEAR(c, 0.3, 1e-3);
}

TEST(LogisticRegression, StaysFiniteWhereInputsDecide) {
  LogisticRegression<2> regression;
  for (int i = 0; i < 100; ++i) regression.add({i < 50 ? -1.0 : 1.0, 1}, i < 50 ? 0 : 1);
  const auto [weight, constant] = regression.fit();
  EXPECT_GT(weight, 2);
  EXPECT_LT(weight, 100);
  EXPECT_NEAR(constant, 0, 1e-6);
}

/// Sentences of ten words whose probability is 0.9 for the model and `right` of which are kept.
std::vector<ConfidenceExample> overconfident(size_t right) {
  std::vector<ConfidenceExample> examples(50);
  for (size_t s = 0; s < examples.size(); ++s) {
    ConfidenceExample& example = examples[s];
    for (size_t i = 0; i < 10; ++i) {
      example.translation.log_probabilities.push_back(std::log(0.9));
      example.outcome.kept.push_back((i + s) % 10 < right);
    }
    example.outcome.reference_words = 20;
  }
  return examples;
}

TEST(Calibration, MakesOfProbabilitiesThoseOfBeingRight) {
  const std::vector<ConfidenceExample> examples = overconfident(6);
  const ConfidenceCalibration calibration = fit_calibration(examples);
  EXPECT_EQ(calibration.words, 500);
  EXPECT_EQ(calibration.sentences, 50);
  const std::vector<double> words = calibration.words_of(examples.front().translation);
  ASSERT_EQ(words.size(), 10u);
  for (const double word : words) EXPECT_NEAR(word, 0.6, 0.01);
  // Of the twenty words of the reference six are there.
  EXPECT_NEAR(calibration.sentence_of(words), 0.3, 0.01);
  EXPECT_EQ(calibration.sentence_of({}), 0);
}

TEST(Calibration, WantsWords) {
  const std::vector<ConfidenceExample> examples = overconfident(6);
  try {
    fit_calibration(std::span(examples).first(19));
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the translations have 190 words, and confidence is calibrated with at least 200");
  }
}

ConfidenceCalibration of(const std::string& source, const std::string& target, double own) {
  return {.word = {.own = own}, .languages = {.source = source, .target = target, .via = {}}};
}

TEST(Calibrations, BelongToLanguages) {
  ConfidenceCalibrations all{of("en", "de", 1), of("", "", 2)};
  EXPECT_EQ(find_calibration(all, {"en", "de", ""})->word.own, 1);
  EXPECT_EQ(find_calibration(all, {"en", "fr", ""})->word.own, 2);  // made without languages
  EXPECT_EQ(find_calibration(all, {"en", "de", "fr"}), nullptr);
  set_calibration(all, of("en", "de", 3));
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(find_calibration(all, {"en", "de", ""})->word.own, 3);
  all.erase(all.begin());
  EXPECT_EQ(find_calibration(all, {"en", "fr", ""}), nullptr);
}

TEST(Calibrations, AreWrittenAndRead) {
  const TemporaryDirectory folder;
  EXPECT_TRUE(read_calibrations(folder.path()).empty());
  ConfidenceCalibration one = of("eng_Latn", "deu_Latn", 0.1);
  one.word.sentence = -2.5;
  one.word.neighbours = 1e-3;
  one.word.constant = 4;
  one.sentence = {.mean = 1.5, .constant = -1};
  one.languages.via = "fra_Latn";
  one.words = 12345;
  one.sentences = 678;
  write_quickly(folder / kConfidenceFile, text_of({one, of("", "", 2)}));
  const ConfidenceCalibrations found = read_calibrations(folder.path());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(text_of(found), text_of({one, of("", "", 2)}));
  EXPECT_EQ(found[0].languages, one.languages);
  EXPECT_EQ(found[0].word.sentence, -2.5);
  EXPECT_EQ(found[0].words, 12345);
}

TEST(Calibrations, OfADamagedFileAreRefusedByItsName) {
  const TemporaryDirectory folder;
  for (const std::string text :
       {"", "[]", "{}", R"({"calibrations": 1})", R"({"calibrations": [1]})",
        R"({"calibrations": [{"word": {}}]})",
        R"({"calibrations": [{"word": {"own": 1e300, "sentence": 0, "neighbours": 0, "constant": 0},
            "sentence": {"mean": 1, "constant": 0}}]})",
        R"({"calibrations": [{"word": {"own": "1", "sentence": 0, "neighbours": 0, "constant": 0},
            "sentence": {"mean": 1, "constant": 0}}]})"}) {
    write_quickly(folder / kConfidenceFile, text);
    try {
      read_calibrations(folder.path());
      ADD_FAILURE() << "expected an error: " << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(kConfidenceFile), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace heed::generate
