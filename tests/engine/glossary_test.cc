// Translations with a glossary: of lines, of documents and in sessions.
#include "heed/glossary.h"

#include <gtest/gtest.h>

#include "heed/session.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

const Model& glossary_translator() {
  static const Model model = Model::load(engine::models().translator());
  return model;
}

const std::vector<std::string> kGlossaryLines{"the old ship", "in the sea", "", "a ship, a ship"};

TranslateOptions with_glossary() {
  return {.glossary = {{"ship", {"sea"}}, {"the old", {"went", "out"}}},
          .do_not_translate = {"in"}};
}

int64_t count_words(const std::string& text, const std::string& word) {
  int64_t found = 0;
  const std::string padded = " " + text + " ";
  for (size_t at = padded.find(" " + word); at != padded.npos; at = padded.find(" " + word, at + 1))
    found += std::isalpha(padded[at + word.size() + 1]) == 0;
  return found;
}

TEST(Glossary, TermsAreInEachTranslationOfALine) {
  TranslateOptions options = with_glossary();
  options.search.n_best = 4;
  const std::vector<Translation> found =
      glossary_translator().translate_batch(kGlossaryLines, options);
  ASSERT_EQ(found.size(), 4u);
  for (const Candidate& one : found[0].candidates) {
    EXPECT_GE(count_words(one.text, "sea"), 1) << one.text;
    EXPECT_GE(count_words(one.text, "went") + count_words(one.text, "out"), 1) << one.text;
  }
  for (const Candidate& one : found[1].candidates)
    EXPECT_GE(count_words(one.text, "in"), 1) << one.text;
  EXPECT_TRUE(found[2].candidates.empty());
  for (const Candidate& one : found[3].candidates)
    EXPECT_GE(count_words(one.text, "sea"), 2) << one.text;
}

TEST(Glossary, LinesWithoutTermsKeepTheirTranslation) {
  TranslateOptions options = with_glossary();
  options.glossary = {{"sailor", {"sea"}}};
  options.do_not_translate = {};
  for (const std::string& line : kGlossaryLines)
    EXPECT_EQ(glossary_translator().translate(line, options).text(),
              glossary_translator().translate(line).text());
}

TEST(Glossary, TermsAreInTheSentencesOfADocument) {
  const DocumentTranslation found = glossary_translator().translate_document(
      "The old ship. In the sea!\n", {.translate = with_glossary()});
  EXPECT_GE(count_words(found.text, "sea"), 1) << found.text;
  EXPECT_GE(count_words(found.text, "went") + count_words(found.text, "out"), 1) << found.text;
}

TEST(Glossary, ASessionRequiresTheSameTexts) {
  const TranslateOptions options = with_glossary();
  const auto required = glossary_translator().required_texts(kGlossaryLines, options);
  EXPECT_EQ(required[0].size(), 2u);
  EXPECT_TRUE(required[2].empty());
  ASSERT_EQ(required[3].size(), 1u);
  EXPECT_EQ(required[3][0].places.size(), 2u);
  Session session(glossary_translator());
  std::vector<std::string> found(kGlossaryLines.size());
  for (size_t i = 0; i < kGlossaryLines.size(); ++i) {
    if (kGlossaryLines[i].empty()) continue;
    session.add({.prompt = kGlossaryLines[i], .required_texts = required[i]},
                [&, i](const Delta& delta) {
                  found[i] = delta.candidates->front().text;
                  return true;
                });
  }
  while (session.step()) {
  }
  for (size_t i = 0; i < kGlossaryLines.size(); ++i)
    EXPECT_EQ(found[i], glossary_translator().translate(kGlossaryLines[i], options).text());
}

TEST(Glossary, WhatCannotBeDoneIsRefused) {
  const auto refused = [](TranslateOptions options, const std::string& part) {
    expect_error([&] { glossary_translator().translate_batch(kGlossaryLines, options, 5); }, part);
  };
  TranslateOptions options = with_glossary();
  options.search.num_beams = 1;
  refused(options, "terms need beam search: num_beams is 1");
  options.search = TranslateOptions().search;
  options.search.max_new_tokens = 1;
  refused(options, "line 5: the required terms have");
  options = {.glossary = {{"ship", {"\u65b9"}}}};
  refused(options, "the required term \"\u65b9\" has characters that the vocabulary lacks");
  refused({.do_not_translate = {""}}, "do_not_translate has an empty text");
  const Model decoder = Model::load(engine::models().decoder());
  expect_error(
      [&] {
        Session(decoder).add({.prompt = "the", .required_texts = {{{"sea"}, {{0, 1}}}}},
                             [](const Delta&) { return true; });
      },
      "this model does not translate");
  expect_error(
      [&] {
        Session(glossary_translator())
            .add({.prompt = "the", .required_texts = {{{"sea"}, {{7, 8}}}}},
                 [](const Delta&) { return true; });
      },
      "has a place outside of the source");
}

}  // namespace
}  // namespace heed
