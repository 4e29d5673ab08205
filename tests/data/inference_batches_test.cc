#include "heed/data/inference_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "heed/base/error.h"
#include "heed/base/random.h"

namespace heed::data {
namespace {

using Plan = std::vector<std::vector<int64_t>>;

std::vector<int64_t> random_lengths(int count) {
  std::vector<int64_t> lengths;
  const CounterRandom random(3);
  for (int i = 0; i < count; ++i)
    lengths.push_back(static_cast<int64_t>(1 + random.below(static_cast<uint64_t>(i), 40)));
  return lengths;
}

int64_t tokens_of(const std::vector<int64_t>& batch, const std::vector<int64_t>& lengths) {
  int64_t tokens = 0;
  for (const int64_t index : batch) tokens += lengths[static_cast<size_t>(index)];
  return tokens;
}

TEST(PlanForThreads, ContainsEachTextOnceWithinTheBudget) {
  for (const int count : {1, 2, 7, 50, 1000})
    for (const int64_t threads : {1, 2, 5, 16})
      for (const int64_t max_tokens : {1, 39, 256, 100000}) {
        const std::vector<int64_t> lengths = random_lengths(count);
        std::vector<int64_t> seen;
        for (const auto& batch : plan_for_threads(lengths, {max_tokens, 64}, threads)) {
          seen.insert(seen.end(), batch.begin(), batch.end());
          EXPECT_TRUE(batch.size() == 1 || tokens_of(batch, lengths) <= max_tokens);
        }
        std::ranges::sort(seen);
        ASSERT_EQ(seen.size(), static_cast<size_t>(count));
        for (int i = 0; i < count; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
      }
}

TEST(PlanForThreads, GivesEveryThreadEquallyManyTokens) {
  const std::vector<int64_t> same(64, 32);
  const Plan plan = plan_for_threads(same, {4096, 64}, 2);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].size(), 32u);
  for (const int64_t threads : {2, 3, 4}) {
    const std::vector<int64_t> lengths = random_lengths(1000);
    const Plan mixed = plan_for_threads(lengths, {2048, 64}, threads);
    EXPECT_EQ(static_cast<int64_t>(mixed.size()) % threads, 0) << mixed.size();
    const int64_t first = tokens_of(mixed.front(), lengths);
    for (const auto& batch : mixed) EXPECT_LE(std::abs(tokens_of(batch, lengths) - first), 80);
  }
}

TEST(PlanForThreads, UsesFewerThreadsForFewTokens) {
  EXPECT_EQ(plan_for_threads(std::vector<int64_t>{9, 9, 9}, {4096, 64}, 4).size(), 1u);
  EXPECT_EQ(plan_for_threads(std::vector<int64_t>{90, 90, 90}, {4096, 128}, 4).size(), 2u);
  EXPECT_TRUE(plan_for_threads({}, {4096, 64}, 4).empty());
  EXPECT_THROW(plan_for_threads(std::vector<int64_t>{1}, {0, 1}, 1), Error);
}

}  // namespace
}  // namespace heed::data
