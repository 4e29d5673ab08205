#include "heed/metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/metrics/metric_version.h"
#include "heed/metrics/tokenize_13a.h"
#include "heed/metrics/words.h"

namespace heed::metrics {
namespace {

using Lines = std::vector<std::string>;

const nlohmann::json& golden() {
  static const nlohmann::json expected = nlohmann::json::parse(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/metrics/expected.json"));
  return expected;
}

TEST(Bleu, EqualsSacrebleu) {
  ASSERT_GE(golden()["corpora"].size(), 60u);
  for (const auto& corpus : golden()["corpora"]) {
    SCOPED_TRACE(corpus["name"]);
    const Bleu bleu = corpus_bleu(corpus["hypotheses"], corpus["references"].get<Lines>());
    EXPECT_NEAR(bleu.score, corpus["bleu"], 1e-6);
    for (size_t n = 0; n < 4; ++n) EXPECT_NEAR(bleu.precisions[n], corpus["precisions"][n], 1e-6);
    EXPECT_NEAR(bleu.brevity_penalty, corpus["brevity_penalty"], 1e-9);
    EXPECT_EQ(bleu.hypothesis_length, corpus["hypothesis_length"]);
    EXPECT_EQ(bleu.reference_length, corpus["reference_length"]);
    EXPECT_EQ(bleu.text(), corpus["bleu_text"]);
  }
}

TEST(Bleu, OfSeveralReferencesTakesTheLargestCountsAndTheClosestLength) {
  const Bleu bleu =
      corpus_bleu({"a a b c"}, std::vector<Lines>{{"a b"}, {"a a c c d d"}, {"e e e e e"}});
  EXPECT_EQ(bleu.precisions[0], 100);
  EXPECT_EQ(bleu.reference_length, 5);
  EXPECT_EQ(bleu.signature().substr(0, 8), "nrefs:3|");
}

TEST(Bleu, SignatureIsSacrebleusWithHeedsVersion) {
  EXPECT_EQ(Bleu{}.signature(),
            golden()["signatures"][0].get<std::string>() + "|version:" + kMetricVersion);
  const std::string project = read_file(std::filesystem::path(HEED_SOURCE_DIR) / "CMakeLists.txt");
  const std::string number = std::string(kMetricVersion).substr(std::string("heed-").size());
  EXPECT_NE(project.find("project(heed VERSION " + number + " "), std::string::npos);
}

TEST(Bleu, RejectsUnequalOrZeroNumbersOfLines) {
  const auto error = [](const Lines& ours, const Lines& theirs) -> std::string {
    try {
      corpus_bleu(ours, theirs);
    } catch (const Error& caught) {
      return caught.what();
    }
    return "no error";
  };
  EXPECT_EQ(error({"a", "b"}, {"a"}),
            "BLEU needs one reference per translation, found 2 translations and 1 references");
  EXPECT_EQ(error({}, {}), "BLEU needs at least one translation, found none");
}

TEST(Bleu, ScoresALineOfAMegabyteInLinearTime) {
  std::string line;
  while (line.size() < 1'000'000) line += "one, two (three) 4-5 ... & ";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NEAR(corpus_bleu({line}, {line}).score, 100, 1e-9);
  EXPECT_NEAR(corpus_bleu({std::string(1'000'000, '.')}, {std::string(1'000'000, ',')}).score, 0,
              1e-9);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Bleu, AcceptsMalformedUtf8) {
  EXPECT_NEAR(corpus_bleu({"a \xff\xc3 b. c"}, {"a \xff\xc3 b. c"}).score, 100, 1e-9);
}

TEST(Tokenize13a, EqualsSacrebleu) {
  for (const auto& line : golden()["tokens"]) {
    const auto text = line["text"].get<std::string>();
    const std::string tokenized = tokenize_13a(text);
    Lines tokens;
    for (const std::string_view word : split_words(tokenized)) tokens.emplace_back(word);
    EXPECT_EQ(tokens, line["tokens"].get<Lines>()) << text;
  }
}

TEST(Words, AreSeparatedByUnicodeWhiteSpace) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words(" a\u00a0bc\u3000\n\x1f d "), (Words{"a", "bc", "d"}));
  EXPECT_EQ(split_words("a\u200bb"), (Words{"a\u200bb"}));
  EXPECT_TRUE(split_words(" \t\u2003").empty());
  EXPECT_EQ(without_trailing_space("  a b \u2028\r\n"), "  a b");
  EXPECT_EQ(without_trailing_space(" \u3000"), "");
}

}  // namespace
}  // namespace heed::metrics
