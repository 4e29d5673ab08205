#include <gtest/gtest.h>

#include "heed/document/sentences/sentence_settings.h"
#include "heed/model.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

const Model& translator() {
  static const Model model = Model::load(engine::models().translator());
  return model;
}

std::vector<std::string> sources_of(const DocumentTranslation& document) {
  std::vector<std::string> sources;
  for (const DocumentSentence& sentence : document.sentences) sources.push_back(sentence.source);
  return sources;
}

TEST(TranslateDocument, TranslatesEachSentenceAsAloneAndKeepsTheRest) {
  const std::string text = "The old sea. A ship went out.\n\n\t***\n  In the sea  \r\n";
  std::vector<int64_t> reports;
  const DocumentTranslation found =
      translator().translate_document(text, {}, [&](int64_t done, int64_t all) {
        EXPECT_EQ(all, 3);
        reports.push_back(done);
      });
  EXPECT_EQ(sources_of(found),
            (std::vector<std::string>{"The old sea.", "A ship went out.", "In the sea"}));
  EXPECT_EQ(reports, (std::vector<int64_t>{0, 3}));
  std::vector<std::string> alone;
  for (const DocumentSentence& sentence : found.sentences) {
    alone.push_back(translator().translate(sentence.source).text());
    EXPECT_EQ(sentence.translation.text(), alone.back());
  }
  EXPECT_EQ(found.text, alone[0] + " " + alone[1] + "\n\n\t***\n  " + alone[2] + "  \r\n");
}

TEST(TranslateDocument, CutsSentencesThatAreTooLong) {
  std::string text = "the old sea";
  for (int i = 0; i < 40; ++i) text += ", the old sea";
  const DocumentTranslation found = translator().translate_document(text);
  EXPECT_GT(found.sentences.size(), 2u);
  for (const DocumentSentence& sentence : found.sentences)
    EXPECT_LE(sentence.translation.source.size(), 32u);  // half of the context
  for (const DocumentSentence& sentence :
       translator().translate_document(text, {.max_sentence_tokens = 12}).sentences)
    EXPECT_LE(sentence.translation.source.size(), 12u);
  EXPECT_THROW(translator().translate_document(text, {.max_sentence_tokens = 65}), InputError);
}

TEST(TranslateDocument, KnowsTheLengthsOfTheTraining) {
  const TemporaryDirectory folder;
  std::filesystem::copy(engine::models().translator(), folder / "model");
  write_quickly(folder / "model" / document::kSentencesFile, R"({"max_source_tokens": 10})");
  const Model model = Model::load(folder / "model");
  EXPECT_EQ(model.trained_source_tokens(), 10);
  EXPECT_EQ(translator().trained_source_tokens(), 0);
  for (const DocumentSentence& sentence :
       model.translate_document("the old sea, the old sea, the ship").sentences)
    EXPECT_LE(sentence.translation.source.size(), 10u);
}

TEST(TranslateDocument, KeepsMarkupAndPlaceholders) {
  const std::string page =
      translator().translate_document("<p>the <b>old</b> sea</p>", {.format = "html"}).text;
  EXPECT_TRUE(page.starts_with("<p>") && page.ends_with("</p>")) << page;
  EXPECT_NE(page.find("<b>"), page.npos) << page;
  const std::string text = translator().translate_document("the sea of {name} is old").text;
  EXPECT_NE(text.find("{name}"), text.npos) << text;
}

TEST(TranslateDocument, RefusesWhatItCannotDo) {
  EXPECT_THROW(translator().translate_document("the sea", {.format = "rtf"}), Error);
  EXPECT_THROW(translator().translate_document("\xFF"), InputError);
  EXPECT_THROW(Model::load(engine::models().decoder()).translate_document(""), Error);
  EXPECT_EQ(translator().translate_document("").text, "");
}

}  // namespace
}  // namespace heed
