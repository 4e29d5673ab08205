#include "heed/metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/metrics/metric_version.h"

namespace heed::metrics {
namespace {

const nlohmann::json& golden_chrf() {
  static const nlohmann::json expected = nlohmann::json::parse(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/metrics/expected.json"));
  return expected;
}

TEST(Chrf, EqualsSacrebleu) {
  for (const auto& corpus : golden_chrf()["corpora"]) {
    SCOPED_TRACE(corpus["name"]);
    const Chrf chrf =
        corpus_chrf(corpus["hypotheses"], corpus["references"].get<std::vector<std::string>>());
    EXPECT_NEAR(chrf.score, corpus["chrf"], 1e-6);
    EXPECT_EQ(chrf.text(), corpus["chrf_text"]);
  }
}

TEST(Chrf, WithWordsEqualsSacrebleusChrfPlusPlus) {
  for (const auto& corpus : golden_chrf()["corpora"]) {
    SCOPED_TRACE(corpus["name"]);
    const Chrf chrf =
        corpus_chrf(corpus["hypotheses"], corpus["references"].get<std::vector<std::string>>(),
                    {.word_order = 2});
    EXPECT_NEAR(chrf.score, corpus["chrf_plus_plus"], 1e-6);
    EXPECT_EQ(chrf.text(), corpus["chrf_plus_plus_text"]);
  }
}

TEST(Chrf, SignatureIsSacrebleusWithHeedsVersion) {
  const auto signed_by_heed = [](size_t which) {
    return golden_chrf()["signatures"][which].get<std::string>() + "|version:" + kMetricVersion;
  };
  EXPECT_EQ((Chrf{.score = 1, .word_order = 0}.signature()), signed_by_heed(1));
  EXPECT_EQ((Chrf{.score = 1, .word_order = 2}.signature()), signed_by_heed(2));
}

TEST(Chrf, RejectsUnequalOrZeroNumbersOfLines) {
  const auto error = [](const std::vector<std::string>& ours,
                        const std::vector<std::string>& theirs,
                        const ChrfOptions& options) -> std::string {
    try {
      corpus_chrf(ours, theirs, options);
    } catch (const Error& caught) {
      return caught.what();
    }
    return "no error";
  };
  EXPECT_EQ(error({"a"}, {}, {}),
            "chrF2 needs one reference per translation, found 1 translations and 0 references");
  EXPECT_EQ(error({}, {}, {}), "chrF2 needs at least one translation, found none");
  EXPECT_EQ(error({"a"}, {"a"}, {.word_order = -1}),
            "the word order of chrF is -1, expected 0 to 8");
}

TEST(Chrf, ScoresALineOfAMegabyteInLinearTime) {
  const auto start = std::chrono::steady_clock::now();
  const std::string line(1'000'000, 'a');
  EXPECT_NEAR(corpus_chrf({line}, {line}).score, 100, 1e-9);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Chrf, AcceptsMalformedUtf8) {
  EXPECT_NEAR(corpus_chrf({"a\xff\xc3 b. c"}, {"a\xff\xc3 b. c"}, {.word_order = 2}).score, 100,
              1e-9);
}

}  // namespace
}  // namespace heed::metrics
