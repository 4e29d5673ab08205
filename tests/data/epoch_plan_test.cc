#include "heed/data/epoch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/stored_pairs.h"
#include "tests/base/testing.h"

namespace heed::data {
namespace {

Example example_of(int64_t i) {
  const auto random = static_cast<size_t>(mix64(static_cast<uint64_t>(i)));
  const std::vector<Link> links{{1, 0}, {0, 1}, {1, 1}};
  return {std::vector<int32_t>(2 + random % 30, static_cast<int32_t>(i)),
          std::vector<int32_t>(2 + random % 20, 7),
          i % 2 ? std::vector<Link>() : std::vector<Link>(links.begin(), links.begin() + i % 4 + 1),
          static_cast<int32_t>(i % 3)};
}

StoredPairs pairs_of(const TemporaryDirectory& folder, const std::vector<int64_t>& sizes,
                     std::span<const double> shares = {}) {
  const Mixture mixture = shares.empty() ? Mixture(sizes) : Mixture(sizes, shares, 3);
  ExampleFile file(folder.path());
  for (int64_t i = 0; i < mixture.size(); ++i) file.add(example_of(i));
  file.flush();
  return {std::move(file), mixture, 1};
}

using Batches = std::vector<std::vector<int64_t>>;

Batches batches_of(const Dataset& pairs, int64_t part, int64_t epoch) {
  EpochPlan plan(pairs, {.token_budget = 64, .seed = 9}, part);
  Batches batches;
  while (const auto batch = plan.batch(epoch, std::ssize(batches))) batches.push_back(*batch);
  EXPECT_EQ(plan.count(epoch), std::ssize(batches));
  return batches;
}

std::vector<int64_t> sorted_examples(const Batches& batches) {
  std::vector<int64_t> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::ranges::sort(all);
  return all;
}

TEST(ExampleFile, GivesBackWhatWasAdded) {
  const TemporaryDirectory folder;
  ExampleFile file(folder.path());
  for (int64_t i = 0; i < 50'000; ++i) file.add(example_of(i));
  file.flush();
  EXPECT_EQ(file.count(), 50'000);
  for (const int64_t i : {0, 1, 31'415, 49'999}) {
    const Example expected = example_of(i), found = file.at(i);
    EXPECT_EQ(found.source, expected.source);
    EXPECT_EQ(found.target, expected.target);
    EXPECT_EQ(found.links, expected.links);
    EXPECT_EQ(found.start, expected.start);
    EXPECT_EQ(file.lengths_at(i).source, std::ssize(expected.source));
  }
  EXPECT_THROW(file.at(50'000), Error);
  EXPECT_THROW(file.lengths_at(-1), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "its files have no names";
  EXPECT_THROW(ExampleFile(folder / "missing"), Error);
}

TEST(StoredPairs, MakeTheBatchesOfExamplesInMemory) {
  const TemporaryDirectory folder;
  const StoredPairs pairs = pairs_of(folder, {5});
  std::vector<Example> examples;
  for (int64_t i = 0; i < 5; ++i) examples.push_back(example_of(i));
  const std::vector<int64_t> indices{4, 0, 2};
  const Batch stored = pairs.batch(indices, 0), expected = make_batch(examples, indices, 1);
  EXPECT_EQ(stored.source, expected.source);
  EXPECT_EQ(stored.decoder_input, expected.decoder_input);
  EXPECT_EQ(stored.target_offsets, expected.target_offsets);
  EXPECT_EQ(stored.aligned_offsets, expected.aligned_offsets);
  EXPECT_EQ(stored.aligned, expected.aligned);
  EXPECT_FALSE(stored.aligned.empty());
  EXPECT_EQ(stored.decoder_input.front(), 1) << "the start token of example 4";
}

TEST(EpochPlan, OfOnePartIsThePlanOfAllExamples) {
  const TemporaryDirectory folder;
  const StoredPairs pairs = pairs_of(folder, {300});
  EXPECT_EQ(batches_of(pairs, 300, 2),
            plan_batches(pairs.lengths(), {.token_budget = 64, .seed = 9}, 2));
}

TEST(EpochPlan, PartsHoldRandomExamplesAndEachOnce) {
  const TemporaryDirectory folder;
  const StoredPairs pairs = pairs_of(folder, {1000});
  const Batches batches = batches_of(pairs, 128, 0);
  const std::vector<int64_t> all = sorted_examples(batches);
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], i);
  const std::vector<int64_t> early =
      sorted_examples(Batches(batches.begin(), batches.begin() + std::ssize(batches) / 8));
  EXPECT_LT(early.front(), 100);
  EXPECT_GT(early.back(), 900);
  EXPECT_NE(batches, batches_of(pairs, 128, 1));
}

TEST(EpochPlan, CanBeginAtAnyBatchOfAnyEpoch) {
  const TemporaryDirectory folder;
  const std::vector<double> shares{3.0, 1.0};
  const StoredPairs pairs = pairs_of(folder, {100, 500}, shares);
  const Batches batches = batches_of(pairs, 128, 4);
  EpochPlan plan(pairs, {.token_budget = 64, .seed = 9}, 128);
  for (const int64_t number : {std::ssize(batches) - 1, int64_t{3}, std::ssize(batches) / 2})
    EXPECT_EQ(plan.batch(4, number), batches[static_cast<size_t>(number)]);
  EXPECT_EQ(plan.batch(4, std::ssize(batches)), std::nullopt);
  EXPECT_EQ(plan.batch(4, 0), batches[0]);
}

TEST(EpochPlan, DrawsAsTheMixtureSays) {
  const TemporaryDirectory folder;
  const std::vector<double> shares{3.0, 1.0};
  const StoredPairs pairs = pairs_of(folder, {100, 500}, shares);
  const std::vector<int64_t> all = sorted_examples(batches_of(pairs, 128, 0));
  EXPECT_EQ(std::ssize(all), 600);
  EXPECT_EQ(std::ranges::count_if(all, [](int64_t i) { return i < 100; }), 450);
}

}  // namespace
}  // namespace heed::data
