#include "heed/engine/pivot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/error.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

const std::vector<std::string> kLines{"the old sailor forgot", "", "the sea"};

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Model nllb() {
  return Model::load(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/translation/nllb");
}

TEST(Pivot, OfOneModelTranslatesTwice) {
  const Model model = nllb();
  const auto found = model.translate_batch(
      kLines, {.source_language = "eng_Latn", .target_language = "fra_Latn", .via = "de"});
  ASSERT_EQ(found.size(), kLines.size());
  for (size_t i = 0; i < kLines.size(); ++i) {
    const Translation between =
        model.translate(kLines[i], {.source_language = "eng_Latn", .target_language = "deu_Latn"});
    const Translation expected = model.translate(
        between.text(), {.source_language = "deu_Latn", .target_language = "fra_Latn"});
    EXPECT_EQ(found[i].pivot, between.text());
    EXPECT_EQ(found[i].text(), expected.text());
    EXPECT_EQ(found[i].source, between.source);
  }
  EXPECT_TRUE(found[1].candidates.empty());
}

TEST(Pivot, OfTwoModelsHasTheLanguagesOfEach) {
  const Model first = Model::load(models().translator());  // without languages to choose from
  const auto second = std::make_shared<const Model>(nllb());
  TranslateOptions options{.target_language = "fra_Latn", .via = "en", .then = second};
  options.search.n_best = 2;
  const Translation found = first.translate("the old sea", options);
  EXPECT_EQ(found.pivot, first.translate("the old sea").text());
  TranslateOptions of_second{.source_language = "eng_Latn", .target_language = "fra_Latn"};
  of_second.search.n_best = 2;
  const auto expected = second->translate(found.pivot, of_second).candidates;
  ASSERT_EQ(found.candidates.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found.candidates[i].text, expected[i].text);
    EXPECT_EQ(found.candidates[i].hypothesis.score, expected[i].hypothesis.score);
  }
}

TEST(Pivot, AlignsWithTheSource) {
  const Model model = Model::load(models().translator());
  const auto then = std::make_shared<const Model>(model);
  const Translation found = model.translate("the old sea", {.then = then, .alignments = true});
  const Translation between = model.translate("the old sea", {.alignments = true});
  Translation expected = model.translate(between.text(), {.alignments = true});
  compose_alignment(between.candidates.front().alignment, expected.candidates.front().alignment);
  EXPECT_EQ(pharaoh(found.candidates.front().alignment),
            pharaoh(expected.candidates.front().alignment));
  EXPECT_FALSE(found.candidates.front().alignment.empty());
  for (const AlignedWords& pair : found.candidates.front().alignment) EXPECT_LT(pair.source, 3);
}

TEST(Pivot, ComposesAlignments) {
  std::vector<AlignedWords> second{{0, 0}, {2, 1}, {1, 2}, {9, 3}};
  compose_alignment({{4, 0}, {5, 1}, {6, 2}}, second);
  EXPECT_EQ(pharaoh(second), "4-0 6-1 5-2");
}

TEST(Pivot, TranslatesDocuments) {
  const Model model = nllb();
  DocumentOptions options;
  options.format = "html";
  options.translate = {.source_language = "eng_Latn", .target_language = "fra_Latn", .via = "de"};
  const DocumentTranslation found = model.translate_document("<p>The <b>old</b> sea.</p>", options);
  ASSERT_EQ(found.sentences.size(), 1u);
  EXPECT_FALSE(found.sentences.front().translation.pivot.empty());
  for (const std::string tag : {"<p>", "<b>", "</b>", "</p>"})
    EXPECT_NE(found.text.find(tag), found.text.npos) << found.text;
}

TEST(Pivot, RefusesLanguagesThatModelsDoNotHave) {
  const Model model = nllb();
  const auto with = [&](const char* via) {
    return error_of([&] {
      model.translate("the sea",
                      {.source_language = "eng_Latn", .target_language = "fra_Latn", .via = via});
    });
  };
  EXPECT_EQ(with("tlh"), "via is \"tlh\", which is no language that the model translates into");
  EXPECT_EQ(with("en"), "via is \"en\", which is the source language, expected another one");
  EXPECT_EQ(with("fra_Latn"),
            "via is \"fra_Latn\", which is the target language, expected another one");
  const auto second = std::make_shared<const Model>(model);
  EXPECT_EQ(error_of([&] {
              model.translate("the sea", {.source_language = "eng_Latn",
                                          .target_language = "fra_Latn",
                                          .via = "de",
                                          .then = second,
                                          .confidence = true});
            }),
            "confidence was requested, and there is no calibration of two models");
  const Model alone = Model::load(models().translator());
  EXPECT_EQ(error_of([&] { alone.translate("the sea", {.via = "en"}); }),
            "via is \"en\", and the model has no choice of languages: then names a second model");
}

}  // namespace
}  // namespace heed::engine
