#include "heed/data/pair_filter.h"

#include <gtest/gtest.h>

namespace heed::data {
namespace {

Example example(size_t source, size_t target) {
  return {std::vector<int32_t>(source, 7), std::vector<int32_t>(target, 7)};
}

TEST(PairFilter, CountsDroppedPairsByReason) {
  std::vector<Example> examples{example(5, 6),   example(1, 6),   example(6, 1),  example(0, 0),
                                example(101, 9), example(9, 101), example(4, 50), example(50, 4)};
  const FilterReport report = filter_examples(examples, {.max_tokens = 100, .max_ratio = 3});
  EXPECT_EQ(report.kept, 1);
  EXPECT_EQ(report.empty, 3);
  EXPECT_EQ(report.too_long, 2);
  EXPECT_EQ(report.unbalanced, 2);
  EXPECT_EQ(report.total(), 8);
  EXPECT_EQ(report.text(), "1 of 8 pairs kept; dropped: 3 empty, 2 too long, 2 by length ratio");
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_EQ(examples[0].target.size(), 6u);
}

TEST(PairFilter, KeepsPairsExactlyAtTheLimits) {
  std::vector<Example> examples{example(100, 100), example(2, 11), example(2, 12), example(11, 2)};
  const FilterReport report =
      filter_examples(examples, {.max_tokens = 100, .max_ratio = 3, .slack = 5});
  EXPECT_EQ(report.kept, 3);
  EXPECT_EQ(report.unbalanced, 1);
}

TEST(PairFilter, KeepsTheOrderOfPairs) {
  std::vector<Example> examples{example(3, 3), example(4, 4), example(5, 5)};
  EXPECT_EQ(filter_examples(examples, {}).text(), "3 of 3 pairs kept");
  EXPECT_EQ(examples[0].source.size(), 3u);
  EXPECT_EQ(examples[2].source.size(), 5u);
  std::vector<Example> none;
  EXPECT_EQ(filter_examples(none, {}).text(), "0 of 0 pairs kept");
}

}  // namespace
}  // namespace heed::data
