#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/metrics.h"
#include "heed/metrics/metric_version.h"
#include "heed/metrics/shifted_edits.h"

namespace heed::metrics {
namespace {

using TextLines = std::vector<std::string>;

nlohmann::json read_golden(const std::string& name) {
  return nlohmann::json::parse(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/metrics" / name));
}

TerOptions options_of(const nlohmann::json& json) {
  TerOptions options;
  options.normalized = json.value("normalized", false);
  options.no_punct = json.value("no_punct", false);
  options.asian_support = json.value("asian_support", false);
  options.case_sensitive = json.value("case_sensitive", false);
  return options;
}

TEST(Ter, EqualsSacrebleuWithAllOptions) {
  const auto golden = read_golden("significance.json"), corpora = read_golden("expected.json");
  ASSERT_GE(golden["ter"].size(), 60u);
  for (const auto& corpus : corpora["corpora"])
    for (size_t i = 0; i < golden["options"].size(); ++i) {
      SCOPED_TRACE(corpus["name"].get<std::string>() + golden["options"][i].dump());
      const Ter ter = corpus_ter(corpus["hypotheses"], {corpus["references"].get<TextLines>()},
                                 options_of(golden["options"][i]));
      EXPECT_NEAR(ter.score, golden["ter"][corpus["name"].get<std::string>()][i], 1e-9);
    }
}

TEST(Ter, SignatureIsSacrebleusWithHeedsVersion) {
  const auto golden = read_golden("significance.json");
  for (size_t i = 0; i < golden["options"].size(); ++i) {
    Ter ter;
    ter.options = options_of(golden["options"][i]);
    EXPECT_EQ(ter.signature(),
              golden["signatures"][i].get<std::string>() + "|version:" + kMetricVersion);
  }
}

TEST(Ter, CountsTheFewestEditsAndTheMeanLengthOfReferences) {
  const Ter ter = corpus_ter({"b a"}, {{"a b c d"}, {"a b"}, {"x"}});
  EXPECT_EQ(ter.edits, 1);  // a shift
  EXPECT_NEAR(ter.reference_length, 7.0 / 3, 1e-12);
  EXPECT_EQ(ter.text(), "TER = 42.86");
  EXPECT_EQ(ter.signature().substr(0, 8), "nrefs:3|");
}

TEST(Ter, OfNoWordsIs0Or100) {
  EXPECT_EQ(corpus_ter({""}, {{" "}}).score, 0);
  EXPECT_EQ(corpus_ter({"a b"}, {{""}}).score, 100);
  EXPECT_EQ(corpus_ter({""}, {{"a b"}}).score, 100);
}

TEST(Ter, LowersCaseAsPythonDoes) {
  EXPECT_EQ(corpus_ter({"ΟΔΟΣ İ ẞ"}, {{"οδος i\u0307 ß"}}).score, 0);
  EXPECT_GT(corpus_ter({"ΟΔΟΣ"}, {{"οδος"}}, {.case_sensitive = true}).score, 0);
}

TEST(Ter, NulIsAnOrdinaryCharacter) {
  const std::string text("a\0b c", 5);
  EXPECT_EQ(corpus_ter({text}, {{text}}, {.normalized = true}).score, 0);
}

std::string ter_error(const TextLines& ours, const std::vector<TextLines>& theirs) {
  try {
    corpus_ter(ours, theirs);
  } catch (const Error& caught) {
    return caught.what();
  }
  return "no error";
}

TEST(Ter, RejectsWhatItCannotScore) {
  EXPECT_EQ(ter_error({"a"}, {{"a"}, {}}),
            "TER needs one reference per translation, found 1 translations and 0 references");
  EXPECT_EQ(ter_error({"a"}, {}), "TER needs at least one reference per translation, found none");
  EXPECT_EQ(ter_error({}, {{}}), "TER needs at least one translation, found none");
  std::string line;
  for (int i = 0; i <= 100000; ++i) line += "a ";
  EXPECT_EQ(ter_error({"a", line}, {{"a", "a"}}),
            "line 2: TER is for at most 100000 words, found 100001");
}

/// Words moved far and back, so that shifts are tried without end.
TEST(ShiftedEdits, OfLongLinesAreBounded) {
  std::vector<int32_t> ours(4000, 1), theirs(4000, 2);
  for (size_t i = 0; i < 2000; ++i) {
    ours[i] = 2;
    theirs[i] = 1;
  }
  EXPECT_EQ(shifted_edits(ours, theirs), 4000);
  EXPECT_EQ(shifted_edits(std::vector<int32_t>{1}, theirs), 3999);
  EXPECT_EQ(shifted_edits(theirs, std::vector<int32_t>{1}), 3999);
}

}  // namespace
}  // namespace heed::metrics
