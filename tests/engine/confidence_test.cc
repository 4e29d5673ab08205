#include "heed/confidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/session.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

const std::vector<std::string> kConfidentLines{"the old sailor forgot",
                                               "the sea",
                                               "a ship",
                                               "in the old sea out went the ship",
                                               "forgot",
                                               "the ship"};

/// Makes a translator of its own, whose calibration can be written.
void copy_translator(const TemporaryDirectory& folder) {
  std::filesystem::copy(models().translator(), folder.path(),
                        std::filesystem::copy_options::recursive);
}

struct HeldOut {
  std::vector<std::string> sources, references;
};

/// Half of the translations are right, and the rest has no right word.
HeldOut half_right(const Model& model) {
  HeldOut text;
  for (int i = 0; i < 60; ++i) {
    const std::string line = kConfidentLines[static_cast<size_t>(i) % kConfidentLines.size()] +
                             std::string(i % 7 > 3 ? " the" : "") + (i % 5 > 2 ? " old" : "");
    text.sources.push_back(line);
    text.references.push_back(i / 6 % 2 == 0 ? model.translate(line).text() : "0");
  }
  return text;
}

TEST(Confidence, OfAModelWithoutCalibrationIsRefused) {
  const Model model = Model::load(models().translator());
  const auto message_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  for (const std::string& message :
       {message_of([&] { model.translate("the sea", {.confidence = true}); }),
        message_of([&] { evaluate_confidence(model, {"the sea"}, {"x"}); }), message_of([&] {
          Session session(model);
          session.add({.prompt = "the sea", .confidence = true}, [](const Delta&) { return true; });
        })}) {
    EXPECT_NE(message.find("no calibration of its confidence (confidence.json)"), message.npos)
        << message;
    EXPECT_NE(message.find("heed evaluate confidence --calibrate"), message.npos) << message;
  }
  EXPECT_FALSE(model.translate("the sea").candidates.front().confidence);
}

TEST(Confidence, IsCalibratedOnHeldOutText) {
  const TemporaryDirectory folder;
  copy_translator(folder);
  const Model before = Model::load(folder.path());
  const HeldOut text = half_right(before);
  const ConfidenceReport made = calibrate_confidence(before, text.sources, text.references);
  EXPECT_EQ(made.sentences, 60);
  EXPECT_GE(made.words, 200);
  EXPECT_NEAR(made.kept_words, 0.5, 0.2);
  EXPECT_THROW(before.translate("the sea", {.confidence = true}), InputError);  // as it was loaded

  const Model model = Model::load(folder.path());
  const ConfidenceReport report = evaluate_confidence(model, text.sources, text.references);
  EXPECT_EQ(report.words, made.words);
  EXPECT_EQ(report.uncalibrated_word_error, made.uncalibrated_word_error);
  EXPECT_LT(report.word_error, 0.5 * report.uncalibrated_word_error);
  EXPECT_LT(report.sentence_error, report.uncalibrated_sentence_error);

  for (const Candidate& candidate :
       model.translate("the old sea", {.search = {.num_beams = 4, .n_best = 3}, .confidence = true})
           .candidates) {
    ASSERT_TRUE(candidate.confidence);
    EXPECT_GT(*candidate.confidence, 0);
    EXPECT_LT(*candidate.confidence, 1);
    std::string words;
    for (const WordConfidence& word : candidate.words) {
      EXPECT_GT(word.confidence, 0);
      EXPECT_LT(word.confidence, 1);
      words += (words.empty() ? "" : " ") + word.text;
    }
    EXPECT_EQ(words, candidate.text);
  }
}

TEST(Confidence, NeedsNoScoresAndChangesNoTranslation) {
  const TemporaryDirectory folder;
  copy_translator(folder);
  const Model before = Model::load(folder.path());
  const HeldOut text = half_right(before);
  calibrate_confidence(before, text.sources, text.references);
  const Model model = Model::load(folder.path());
  for (const int beams : {1, 4}) {
    TranslateOptions options{.search = {.num_beams = beams, .scores = false}};
    const auto plain = model.translate_batch(kConfidentLines, options);
    options.confidence = true;
    const auto confident = model.translate_batch(kConfidentLines, options);
    Session session(model);
    for (size_t i = 0; i < kConfidentLines.size(); ++i) {
      EXPECT_EQ(confident[i].text(), plain[i].text());
      const Candidate& best = confident[i].candidates.front();
      session.add({.prompt = kConfidentLines[i], .search = options.search, .confidence = true},
                  [&best](const Delta& delta) {
                    const Candidate& found = delta.candidates->front();
                    EXPECT_EQ(found.text, best.text);
                    EXPECT_EQ(found.confidence, best.confidence);
                    EXPECT_EQ(found.words.size(), best.words.size());
                    return true;
                  });
    }
    while (session.step()) {
    }
  }
}

TEST(Confidence, HasTheProbabilitiesOfTokensOfTheSearch) {
  const Model model = Model::load(models().translator());
  for (const int beams : {1, 4})
    for (const Candidate& candidate :
         model.translate("the old sea", {.search = {.num_beams = beams, .scores = true}})
             .candidates) {
      const Hypothesis& hypothesis = candidate.hypothesis;
      ASSERT_EQ(hypothesis.token_log_probabilities.size(), hypothesis.tokens.size());
      double sum = 0;
      for (const double value : hypothesis.token_log_probabilities) {
        EXPECT_LE(value, 0);
        sum += value;
      }
      // The rest is the end's.
      EXPECT_LE(hypothesis.log_probability, sum + 1e-9);
      if (!hypothesis.complete) {
        EXPECT_NEAR(hypothesis.log_probability, sum, 1e-9);
      }
    }
  EXPECT_TRUE(model.translate("the sea", {.search = {.num_beams = 1, .scores = false}})
                  .candidates.front()
                  .hypothesis.token_log_probabilities.empty());
}

/// A calibration for one pair of languages says nothing of another one.
TEST(Confidence, OfAMultilingualModelIsThatOfItsLanguages) {
  const TemporaryDirectory folder;
  std::filesystem::copy(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/translation/nllb",
                        folder.path(), std::filesystem::copy_options::recursive);
  write_quickly(folder / "confidence.json", R"({"calibrations": [{
    "source_language": "eng_Latn", "target_language": "fra_Latn",
    "word": {"own": 1, "sentence": 0, "neighbours": 0, "constant": 0},
    "sentence": {"mean": 1, "constant": 0}}]})");
  const Model model = Model::load(folder.path());
  const auto translate = [&](const char* source, const char* target) {
    return model.translate(
        "the sea", {.source_language = source, .target_language = target, .confidence = true});
  };
  EXPECT_TRUE(translate("eng_Latn", "fra_Latn").candidates.front().confidence);
  EXPECT_TRUE(translate("auto", "fra_Latn").candidates.front().confidence);
  EXPECT_THROW(translate("eng_Latn", "deu_Latn"), InputError);
}

TEST(ConfidencePage, MarksWhatShouldBeRead) {
  Candidate good{.text = "a <b>", .hypothesis = {}}, bad{.text = "c d", .hypothesis = {}},
      cut{.text = "e", .hypothesis = {}};
  good.confidence = 0.9;
  good.words = {{"a", 0.95}, {"<b>", 0.55}};
  bad.confidence = 0.2;
  bad.words = {{"c", 0.1}, {"d", 0.999}};
  cut.confidence = 0.9;
  cut.words = {{"e", 0.9}};
  cut.hypothesis.complete = false;
  EXPECT_FALSE(should_be_read(good, 0.5));
  EXPECT_TRUE(should_be_read(bad, 0.5));
  EXPECT_TRUE(should_be_read(cut, 0.5));
  const std::string page = confidence_page({{1, "x & y", good}, {2, "y", bad}, {7, "z", cut}}, 0.5);
  EXPECT_NE(page.find("2 of 3 translations should be read"), page.npos);
  EXPECT_NE(page.find("<tr><td>1</td><td>90%</td><td dir=\"auto\">x &amp; y</td>"), page.npos);
  EXPECT_NE(page.find("<span class=\"some\" title=\"55%\">&lt;b&gt;</span>"), page.npos);
  EXPECT_NE(page.find("<tr class=\"read\"><td>2</td><td>20%</td>"), page.npos);
  EXPECT_NE(page.find("<span class=\"low\" title=\"10%\">c</span> <span title=\"99%\">d</span>"),
            page.npos);
  EXPECT_NE(page.find("(cut off)"), page.npos);
}

}  // namespace
}  // namespace heed::engine
