// Metrics of classes, numbers and rankings.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/metrics/classification.h"
#include "heed/metrics/correlation.h"
#include "heed/metrics/retrieval.h"
#include "tests/base/testing.h"

namespace heed::metrics {
namespace {

constexpr double kTolerance = 1e-12;

/// tests/golden/metrics/make_labels.py.
const nlohmann::json& label_golden() {
  static const nlohmann::json golden = parse_json(
      read_file(std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/metrics/labels.json"),
      "labels.json");
  return golden;
}

void expect_scores(const ClassificationScores& found, const nlohmann::json& expected) {
  EXPECT_NEAR(found.accuracy, expected["accuracy"].get<double>(), kTolerance);
  EXPECT_NEAR(found.f1_macro, expected["f1_macro"].get<double>(), kTolerance);
  EXPECT_NEAR(found.f1_micro, expected["f1_micro"].get<double>(), kTolerance);
}

TEST(LabelMetrics, OfClassesAreThoseOfScikitLearn) {
  for (const auto& one : label_golden()["classes"])
    expect_scores(classification_scores(one["expected"].get<std::vector<int32_t>>(),
                                        one["predicted"].get<std::vector<int32_t>>()),
                  one);
  for (const auto& one : label_golden()["several"])
    expect_scores(multilabel_scores(one["expected"].get<std::vector<uint8_t>>(),
                                    one["predicted"].get<std::vector<uint8_t>>(),
                                    one["count"].get<int64_t>()),
                  one);
}

TEST(LabelMetrics, OfNumbersAreThoseOfScipyAndScikitLearn) {
  for (const auto& one : label_golden()["numbers"]) {
    const auto a = one["a"].get<std::vector<double>>(), b = one["b"].get<std::vector<double>>();
    EXPECT_NEAR(pearson(a, b), one["pearson"].get<double>(), kTolerance);
    EXPECT_NEAR(spearman(a, b), one["spearman"].get<double>(), kTolerance);
    EXPECT_NEAR(average_precision(one["relevant"].get<std::vector<uint8_t>>(), b),
                one["average_precision"].get<double>(), kTolerance);
  }
}

TEST(LabelMetrics, OfRankingsAreThoseOfRanx) {
  for (const auto& one : label_golden()["rankings"]) {
    const RetrievalScores found = retrieval_scores(one["scores"].get<std::vector<float>>(),
                                                   one["answers"].get<std::vector<int64_t>>());
    EXPECT_NEAR(found.ndcg_10, one["ndcg@10"].get<double>(), kTolerance);
    EXPECT_NEAR(found.mrr_10, one["mrr@10"].get<double>(), kTolerance);
    EXPECT_NEAR(found.recall_1, one["recall@1"].get<double>(), kTolerance);
    EXPECT_NEAR(found.recall_10, one["recall@10"].get<double>(), kTolerance);
  }
}

TEST(LabelMetrics, OfConstantsAreZeroAndOfNothingAnError) {
  EXPECT_EQ(pearson(std::vector{1.0, 1.0}, std::vector{0.0, 2.0}), 0);
  EXPECT_EQ(average_precision(std::vector<uint8_t>{0, 0}, std::vector{0.0, 2.0}), 0);
  expect_error([] { classification_scores({}, {}); }, "0 predictions for 0 targets");
  expect_error([] { retrieval_scores({}, {}); }, "no document answers");
}

}  // namespace
}  // namespace heed::metrics
