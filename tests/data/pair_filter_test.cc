#include "heed/data/pair_filter.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heed::data {
namespace {

Example example(size_t source, size_t target) {
  return {std::vector<int32_t>(source, 7), std::vector<int32_t>(target, 7)};
}

/// What the limits make of pairs of these lengths.
FilterReport report_of(const std::vector<Example>& examples, const LengthLimits& limits) {
  FilterReport report;
  int64_t line = 0;
  for (const Example& one : examples) {
    ++line;
    report.add(length_problem(one, limits), line, {"source " + std::to_string(line), "target"});
  }
  return report;
}

TEST(PairFilter, CountsDroppedPairsByReason) {
  const FilterReport report =
      report_of({example(5, 6), example(1, 6), example(6, 1), example(0, 0), example(101, 9),
                 example(9, 101), example(4, 50), example(50, 4)},
                {.max_tokens = 100, .max_ratio = 3});
  EXPECT_EQ(report.kept(), 1);
  EXPECT_EQ(report.dropped(Drop::empty), 3);
  EXPECT_EQ(report.dropped(Drop::too_long), 2);
  EXPECT_EQ(report.dropped(Drop::length_ratio), 2);
  EXPECT_EQ(report.total(), 8);
  EXPECT_EQ(report.text(), "1 of 8 pairs kept; dropped: 3 empty, 2 too long, 2 by length ratio");
}

TEST(PairFilter, KeepsPairsExactlyAtTheLimits) {
  const FilterReport report =
      report_of({example(100, 100), example(2, 11), example(2, 12), example(11, 2)},
                {.max_tokens = 100, .max_ratio = 3, .slack = 5});
  EXPECT_EQ(report.kept(), 3);
  EXPECT_EQ(report.dropped(Drop::length_ratio), 1);
  EXPECT_EQ(FilterReport().text(), "0 of 0 pairs kept");
}

TEST(PairFilter, ShowsTheFirstExamplesOfAReason) {
  const FilterReport report = report_of(std::vector<Example>(9, example(1, 4)), {});
  const nlohmann::ordered_json json = report.json();
  EXPECT_EQ(json["pairs"], 9);
  EXPECT_EQ(json["kept"], 0);
  const auto& dropped = json["dropped"]["empty"];
  EXPECT_EQ(dropped["count"], 9);
  ASSERT_EQ(dropped["examples"].size(), FilterReport::kExamples);
  EXPECT_EQ(dropped["examples"][1]["line"], 2);
  EXPECT_EQ(dropped["examples"][1]["source"], "source 2");
  FilterReport sum;
  sum.add_counts(report);
  sum.add_counts(report);
  EXPECT_EQ(sum.dropped(Drop::empty), 18);
}

}  // namespace
}  // namespace heed::data
