#include "heed/data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/data/inference_batches.h"

namespace heed::data {
namespace {

using Plan = std::vector<std::vector<int64_t>>;

/// Typical sentence lengths: log-normal around 22 tokens, similar on both sides.
std::vector<Lengths> sentence_lengths(size_t count) {
  const CounterRandom random(3);
  std::vector<Lengths> lengths;
  for (size_t i = 0; i < count; ++i) {
    const double source = std::exp(3.1 + 0.6 * random.normal(2 * i));
    const double target = source * std::exp(0.2 * random.normal(2 * i + 1));
    const auto clamped = [](double x) { return static_cast<int32_t>(std::clamp(x, 2.0, 200.0)); };
    lengths.push_back({clamped(source), clamped(target)});
  }
  return lengths;
}

Lengths sum(const std::vector<Lengths>& lengths, const std::vector<int64_t>& batch) {
  Lengths total;
  for (const int64_t index : batch) {
    total.source += lengths[static_cast<size_t>(index)].source;
    total.target += lengths[static_cast<size_t>(index)].target;
  }
  return total;
}

std::vector<int64_t> flat_sorted(const Plan& plan) {
  std::vector<int64_t> all;
  for (const auto& batch : plan) all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  return all;
}

void expect_each_once(const Plan& plan, size_t count) {
  const std::vector<int64_t> all = flat_sorted(plan);
  ASSERT_EQ(all.size(), count);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(all[i], static_cast<int64_t>(i));
  for (const auto& batch : plan) EXPECT_FALSE(batch.empty());
}

/// The mean fraction of the budget that batches use, without the emptiest batch, which holds the
/// remainder of the epoch.
double fill_of(const Plan& plan, const std::vector<Lengths>& lengths, int64_t budget) {
  std::vector<double> fills;
  for (const auto& batch : plan) {
    const Lengths total = sum(lengths, batch);
    fills.push_back(static_cast<double>(std::max(total.source, total.target)) /
                    static_cast<double>(budget));
  }
  std::sort(fills.begin(), fills.end());
  double total = 0;
  for (size_t i = 1; i < fills.size(); ++i) total += fills[i];
  return total / static_cast<double>(fills.size() - 1);
}

TEST(BatchPlan, ContainsEachExampleOnceWithinTheBudget) {
  const auto lengths = sentence_lengths(3000);
  for (const int64_t budget : {200, 512, 4096, 1'000'000})
    for (const uint64_t epoch : {0, 1, 17}) {
      const Plan plan = plan_batches(lengths, {.token_budget = budget, .seed = 5}, epoch);
      expect_each_once(plan, lengths.size());
      for (const auto& batch : plan) {
        EXPECT_LE(sum(lengths, batch).source, budget);
        EXPECT_LE(sum(lengths, batch).target, budget);
      }
    }
}

TEST(BatchPlan, FillsBatchesTo95Percent) {
  const auto lengths = sentence_lengths(20000);
  for (const int64_t budget : {512, 1024, 4096, 16384}) {
    const double fill =
        fill_of(plan_batches(lengths, {.token_budget = budget}, 0), lengths, budget);
    RecordProperty("fill_" + std::to_string(budget), std::to_string(fill));
    EXPECT_GE(fill, 0.95) << budget;
  }
}

TEST(BatchPlan, DependsOnlyOnSeedAndNumber) {
  const auto lengths = sentence_lengths(2000);
  const BatchOptions options{.token_budget = 1024, .seed = 5};
  EXPECT_EQ(plan_batches(lengths, options, 3), plan_batches(lengths, options, 3));
  EXPECT_NE(plan_batches(lengths, options, 3), plan_batches(lengths, options, 4));
  EXPECT_NE(plan_batches(lengths, options, 3),
            plan_batches(lengths, {.token_budget = 1024, .seed = 6}, 3));
}

TEST(BatchPlan, ChangesNeighboursEveryEpoch) {
  const auto lengths = sentence_lengths(5000);
  const auto partners = [&](uint64_t epoch) {
    std::vector<std::vector<int64_t>> with(lengths.size());
    for (const auto& batch : plan_batches(lengths, {.token_budget = 1024}, epoch))
      for (const int64_t index : batch) {
        with[static_cast<size_t>(index)] = batch;
        std::sort(with[static_cast<size_t>(index)].begin(), with[static_cast<size_t>(index)].end());
      }
    return with;
  };
  const auto first = partners(0), second = partners(1);
  double shared = 0, all = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    std::vector<int64_t> both;
    std::set_intersection(first[i].begin(), first[i].end(), second[i].begin(), second[i].end(),
                          std::back_inserter(both));
    shared += static_cast<double>(both.size() - 1);
    all += static_cast<double>(first[i].size() - 1);
  }
  EXPECT_LT(shared / all, 0.2);
}

TEST(BatchPlan, GroupsSimilarLengthsAndShufflesBatches) {
  const auto lengths = sentence_lengths(20000);
  const Plan plan = plan_batches(lengths, {.token_budget = 2048}, 0);
  double within = 0, rising = 0;
  std::vector<double> means;
  for (const auto& batch : plan) {
    double mean = 0;
    for (const int64_t i : batch) mean += lengths[static_cast<size_t>(i)].source;
    mean /= static_cast<double>(batch.size());
    means.push_back(mean);
    for (const int64_t i : batch)
      within += std::abs(lengths[static_cast<size_t>(i)].source - mean) / mean;
  }
  EXPECT_LT(within / static_cast<double>(lengths.size()), 0.2);
  for (size_t i = 1; i < means.size(); ++i) rising += means[i] > means[i - 1];
  EXPECT_NEAR(rising / static_cast<double>(means.size()), 0.5, 0.1);
}

TEST(BatchPlan, AnExampleAboveTheBudgetIsABatchOfItsOwn) {
  const std::vector<Lengths> lengths{{5, 5}, {300, 4}, {5, 5}, {4, 300}, {5, 5}};
  const Plan plan = plan_batches(lengths, {.token_budget = 100}, 0);
  expect_each_once(plan, lengths.size());
  for (const auto& batch : plan) {
    const bool too_long = std::any_of(batch.begin(), batch.end(),
                                      [](int64_t index) { return index == 1 || index == 3; });
    EXPECT_TRUE(!too_long || batch.size() == 1);
  }
}

TEST(BatchPlan, IsEmptyWithoutExamples) { EXPECT_TRUE(plan_batches({}, {}, 0).empty()); }

TEST(BatchPlan, RejectsAZeroBudget) {
  EXPECT_THROW(plan_batches({{1, 1}}, {.token_budget = 0}, 0), Error);
  EXPECT_THROW(plan_by_tokens(std::vector<int64_t>{1}, 0), Error);
}

TEST(BatchPlan, LengthsOfCountsTheTokensOfBothSides) {
  const Lengths lengths = lengths_of({{1, 2, 3}, {4}});
  EXPECT_EQ(lengths.source, 3);
  EXPECT_EQ(lengths.target, 1);
}

TEST(TranslationBatches, ContainEachSentenceOnceLongestFirstWithinTheBudget) {
  std::vector<int64_t> lengths;
  for (const Lengths& pair : sentence_lengths(500)) lengths.push_back(pair.source);
  lengths[40] = 5000;
  const Plan plan = plan_by_tokens(lengths, 256);
  expect_each_once(plan, lengths.size());
  EXPECT_EQ(plan.front(), std::vector<int64_t>{40});
  int64_t before = 5000;
  for (const auto& batch : plan) {
    int64_t tokens = 0;
    for (const int64_t index : batch) {
      const int64_t length = lengths[static_cast<size_t>(index)];
      EXPECT_LE(length, before);
      before = length;
      tokens += length;
    }
    EXPECT_TRUE(batch.size() == 1 || tokens <= 256) << tokens;
  }
}

TEST(TranslationBatches, KeepEqualLengthsInOrder) {
  EXPECT_EQ(plan_by_tokens(std::vector<int64_t>{3, 3, 3, 3}, 6), (Plan{{0, 1}, {2, 3}}));
  EXPECT_TRUE(plan_by_tokens({}, 6).empty());
}

}  // namespace
}  // namespace heed::data
