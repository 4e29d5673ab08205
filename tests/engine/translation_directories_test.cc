// Tiny models with the files of published translators, compared with transformers. The expected
// tokens and translations come from tests/golden/translation/make.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/engine/loaded_model.h"
#include "heed/generate/alignment.h"
#include "heed/model.h"
#include "heed/session.h"
#include "heed/text/translation_tokenizer.h"
#include "tests/base/testing.h"
#include "tests/generate/teacher_forced.h"

namespace heed {
namespace {

const std::filesystem::path kFolders =
    std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/translation";

class TranslationDirectories : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int64_t kNewTokens = 10;

  const std::filesystem::path folder_ = kFolders / GetParam();
  const nlohmann::json expected_ = parse_json(read_file(folder_ / "expected.json"), "expected");
  const text::LanguagePair languages_{expected_["source_language"], expected_["target_language"]};

  TranslateOptions options() const {
    return {.search = {.num_beams = 1, .max_new_tokens = kNewTokens, .scores = false},
            .source_language = languages_.source,
            .target_language = languages_.target};
  }
};

TEST_P(TranslationDirectories, HaveTheTokensOfTheReference) {
  const auto tokenizer = text::TranslationTokenizer::load(folder_);
  const nlohmann::json config = parse_json(read_file(folder_ / "config.json"), "config");
  EXPECT_EQ(tokenizer.start_of_target(languages_, config["decoder_start_token_id"], -1),
            expected_["prompt"].get<std::vector<int32_t>>());
  for (const auto& line : expected_["lines"]) {
    EXPECT_EQ(tokenizer.encode_source(line["text"].get<std::string>(), languages_),
              line["source"].get<std::vector<int32_t>>())
        << line["text"];
    EXPECT_EQ(tokenizer.decode_target(line["translation"].get<std::vector<int32_t>>()),
              line["translated"].get<std::string>())
        << line["text"];
  }
}

TEST_P(TranslationDirectories, TranslateAsTheReference) {
  const Model model = Model::load(folder_);
  std::vector<std::string> lines{""};
  for (const auto& line : expected_["lines"]) lines.push_back(line["text"]);
  const std::vector<Translation> found = model.translate_batch(lines, options());
  EXPECT_TRUE(found.front().candidates.empty());
  for (size_t i = 1; i < lines.size(); ++i) {
    const auto& line = expected_["lines"][i - 1];
    EXPECT_EQ(found[i].candidates.front().hypothesis.tokens,
              line["translation"].get<std::vector<int32_t>>())
        << lines[i];
    EXPECT_EQ(found[i].text(), line["translated"].get<std::string>()) << lines[i];
  }
}

TEST_P(TranslationDirectories, GiveTheSameInASession) {
  const Model model = Model::load(folder_);
  Session session(model);
  std::vector<std::string> texts;
  for (const auto& line : expected_["lines"])
    session.add({.prompt = line["text"].get<std::string>(),
                 .search = options().search,
                 .source_language = languages_.source,
                 .target_language = languages_.target},
                [&](const Delta& delta) {
                  texts.push_back(delta.candidates->front().text);
                  return true;
                });
  while (session.step()) {
  }
  std::vector<std::string> expected;
  for (const auto& line : expected_["lines"]) expected.push_back(line["translated"]);
  std::ranges::sort(texts);
  std::ranges::sort(expected);
  EXPECT_EQ(texts, expected);
}

TEST_P(TranslationDirectories, AlignOnlyTheWordsOfTheTexts) {
  TranslateOptions with = options();
  with.alignments = true;
  const Translation found = Model::load(folder_).translate("The old house", with);
  for (const AlignedWords& pair : found.candidates.front().alignment) {
    EXPECT_GE(pair.source, 0);
    EXPECT_LT(pair.source, 3);
  }
}

TEST_P(TranslationDirectories, AlignAsAFullPassOverEachCandidate) {
  const Model model = Model::load(folder_);
  const engine::LoadedModel& loaded = engine::loaded(model);
  const text::TranslationTokenizer& tokenizer = *loaded.tokenizer.value().translation_tokenizer();
  TranslateOptions with = options();
  with.alignments = true;
  with.search.num_beams = with.search.n_best = 3;
  const Translation found = model.translate("The old house stands", with);
  for (const Candidate& candidate : found.candidates) {
    const Hypothesis& hypothesis = candidate.hypothesis;
    const generate::SearchResult again{
        hypothesis, generate::teacher_forced_attention(
                        *loaded.transformer, found.source,
                        expected_["prompt"].get<std::vector<int32_t>>(), hypothesis.tokens)};
    EXPECT_EQ(pharaoh(candidate.alignment),
              pharaoh(generate::align_words(tokenizer, found.source, again)));
  }
}

TEST_P(TranslationDirectories, RefuseLanguagesThatAreMissingOrUnknown) {
  const Model model = Model::load(folder_);
  const auto refusal = [&](const std::string& source, const std::string& target) {
    TranslateOptions other = options();
    other.source_language = source;
    other.target_language = target;
    try {
      model.translate("The old house", other);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  const std::string name = GetParam();
  if (languages_.target.empty()) {
    EXPECT_EQ(refusal("en", ""),
              "the source language is \"en\", but this model has no choice of it");
    EXPECT_NE(refusal("", "fr").find("the target language is \"fr\""), std::string::npos);
    return;
  }
  EXPECT_NE(refusal(languages_.source, "xx").find("the target language is \"xx\", expected one of"),
            std::string::npos);
  // The decoder of mBART may begin with a language of its own.
  if (name != "mbart") {
    EXPECT_NE(refusal(languages_.source, "").find("the target language is not given, expected one"),
              std::string::npos);
  }
  if (languages_.source.empty()) return;
  EXPECT_NE(refusal("", languages_.target).find("the source language is not given, expected one"),
            std::string::npos);
  EXPECT_NE(refusal("qq", languages_.target).find("the source language is \"qq\", expected one"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Published, TranslationDirectories,
                         testing::Values("opus-mt", "opus-mt-multi", "opus-mt-separate", "m2m-100",
                                         "nllb", "mbart", "mbart-50"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(PegasusDirectory, SummarisesAsTheReference) {
  const std::filesystem::path folder = kFolders / "pegasus";
  const nlohmann::json expected = parse_json(read_file(folder / "expected.json"), "expected");
  const Model model = Model::load(folder);
  for (const auto& line : expected["lines"]) {
    const auto text = line["text"].get<std::string>();
    EXPECT_EQ(model.tokenize(text), line["source"].get<std::vector<int32_t>>()) << text;
    const Generation found = model.generate(Prompt(text), {.max_new_tokens = 10});
    EXPECT_EQ(found.tokens, line["translation"].get<std::vector<int32_t>>()) << text;
    EXPECT_EQ(found.text, line["translated"].get<std::string>()) << text;
  }
}

TEST(LanguageTokens, OfOtherNamesAreAnsweredWithSimilarOnes) {
  const auto tokenizer = text::TranslationTokenizer::load(kFolders / "nllb");
  try {
    tokenizer.encode_source("x", {.source = "en", .target = "fra_Latn"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what())
            .find("the source language is \"en\", expected one of the model's 202: eng_Latn, "),
        0u)
        << error.what();
  }
}

TEST(LanguageTokens, HaveTheNumbersOfThePublishedModelsInWhateverOrderTheyAreListed) {
  const TemporaryDirectory folder;
  for (const char* name : {"config.json", "sentencepiece.bpe.model", "vocab.json"})
    std::filesystem::copy(kFolders / "m2m-100" / name, folder / name);
  nlohmann::json reversed = nlohmann::json::array();
  const auto languages = text::m2m100_languages();
  for (size_t i = languages.size(); i-- > 0;)
    reversed.push_back("__" + std::string(languages[i]) + "__");
  const nlohmann::json map = {{"additional_special_tokens", reversed}};
  write_file_atomically(folder / "special_tokens_map.json", dump_json(map));
  EXPECT_EQ(text::TranslationTokenizer::load(folder.path()).languages().codes(),
            text::TranslationTokenizer::load(kFolders / "m2m-100").languages().codes());
}

TEST(LanguageTokens, MayBeNamedByTheFiles) {
  const TemporaryDirectory folder;
  for (const char* name : {"config.json", "sentencepiece.bpe.model"})
    std::filesystem::copy(kFolders / "mbart-50" / name, folder / name);
  write_file_atomically(
      folder / "tokenizer_config.json",
      R"({"tokenizer_class": "MBart50Tokenizer", "src_lang": "en_XX", "tgt_lang": "de_DE"})");
  const auto tokenizer = text::TranslationTokenizer::load(folder.path());
  const auto whole = text::TranslationTokenizer::load(kFolders / "mbart-50");
  EXPECT_EQ(tokenizer.encode_source("a", {}), whole.encode_source("a", {"en_XX", ""}));
  EXPECT_EQ(tokenizer.start_of_target({}, 2, -1), whole.start_of_target({"", "de_DE"}, 2, -1));
  EXPECT_EQ(tokenizer.start_of_target({"", "fr_XX"}, 2, -1),
            whole.start_of_target({"", "fr_XX"}, 2, -1));
  EXPECT_EQ(whole.start_of_target({}, 2, 9), (std::vector<int32_t>{2, 9}));
}

}  // namespace
}  // namespace heed
