#include "heed/distribute/collectives.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "tests/distribute/local_ranks.h"

namespace heed::distribute {
namespace {

constexpr int64_t kPieces = 16;

/// Values of very different sizes, so that the order of their sum can be seen in the bits.
float value_of(int microbatch, int64_t i) {
  return static_cast<float>((microbatch * 7919 + i * 104729) % 1000 - 500) *
         static_cast<float>(1 << ((microbatch * 5 + i) % 20));
}

Bounds bounds_of(int64_t count, int64_t pieces) {
  Bounds bounds;
  for (int64_t i = 0; i <= pieces; ++i) bounds.push_back(count * i / pieces);
  return bounds;
}

/// The sum of microbatches [begin, end) as a balanced binary tree.
std::vector<float> tree_sum(int begin, int end, int64_t count) {
  std::vector<float> sum(static_cast<size_t>(count));
  if (end - begin == 1) {
    for (int64_t i = 0; i < count; ++i) sum[static_cast<size_t>(i)] = value_of(begin, i);
    return sum;
  }
  const int middle = begin + (end - begin) / 2;
  sum = tree_sum(begin, middle, count);
  const std::vector<float> other = tree_sum(middle, end, count);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  return sum;
}

void expect_success(const LocalRun& run) {
  for (const std::exception_ptr& error : run.errors) EXPECT_EQ(message_of(error), "");
}

/// Every rank's shard after reduce_scatter of its subtree of 16 microbatches, put together.
std::vector<float> reduced_on(int size, int64_t count, int64_t& bytes) {
  const Bounds shards = shards_of(bounds_of(count, kPieces), size);
  std::vector<float> all(static_cast<size_t>(count));
  const LocalRun run = run_ranks(size, [&](Messenger& messenger) {
    const int rank = messenger.rank();
    std::vector<float> values = tree_sum(16 * rank / size, 16 * (rank + 1) / size, count);
    messenger.run(reduce_scatter(messenger, values, shards));
    const auto shard = static_cast<size_t>(shard_of_rank(rank, size));
    std::copy(values.begin() + shards[shard], values.begin() + shards[shard + 1],
              all.begin() + shards[shard]);
  });
  expect_success(run);
  bytes = run.bytes;
  return all;
}

TEST(Collectives, SumsHaveTheSameBitsOnEveryPowerOfTwoOfRanks) {
  for (const int64_t count : {0, 1, 15, 16, 1000, 4097}) {
    const std::vector<float> expected = tree_sum(0, 16, count);
    for (const int size : {1, 2, 4, 8, 16}) {
      int64_t bytes = 0;
      EXPECT_EQ(reduced_on(size, count, bytes), expected) << size << " ranks, " << count;
    }
  }
}

TEST(Collectives, SumsAreTheSameEachTimeOnOtherNumbersOfRanks) {
  for (const int size : {3, 5, 6, 7, 12}) {
    int64_t bytes = 0;
    const std::vector<float> sums = reduced_on(size, 1000, bytes);
    EXPECT_EQ(reduced_on(size, 1000, bytes), sums);
    const std::vector<float> expected = tree_sum(0, 16, 1000);
    for (size_t i = 0; i < sums.size(); ++i)
      EXPECT_NEAR(sums[i], expected[i], 64.0) << size << " ranks, element " << i;
  }
}

TEST(Collectives, ARankSendsAllValuesButItsShard) {
  constexpr int64_t kCount = 48'000;

  for (const int size : {2, 3, 4, 8}) {
    int64_t bytes = 0;
    reduced_on(size, kCount, bytes);
    // Names of hosts are sent at the beginning.
    const int64_t alone = run_ranks(size, [](Messenger&) {}).bytes;
    EXPECT_EQ(bytes - alone, (size - 1) * kCount * 4) << size << " ranks";
  }
}

TEST(Collectives, AllGatherCompletesTheValuesOfEveryRank) {
  for (const int size : {1, 2, 3, 4, 6, 8})
    for (const int64_t count : {0, 5, 16, 1000}) {
      const Bounds shards = shards_of(bounds_of(count, kPieces), size);
      std::vector<int32_t> expected(static_cast<size_t>(count));
      std::iota(expected.begin(), expected.end(), 7);
      expect_success(run_ranks(size, [&](Messenger& messenger) {
        const auto shard = static_cast<size_t>(shard_of_rank(messenger.rank(), size));
        std::vector<int32_t> values(expected.size(), -1);
        std::copy(expected.begin() + shards[shard], expected.begin() + shards[shard + 1],
                  values.begin() + shards[shard]);
        messenger.run(all_gather(messenger, std::as_writable_bytes(std::span(values)), shards, 4));
        EXPECT_EQ(values, expected) << size << " ranks, " << count;
      }));
    }
}

TEST(Collectives, AllReduceGivesTheSameSumsOnAllRanksWhateverTheirNumberOfValues) {
  for (const int size : {1, 2, 3, 4, 8})
    for (const size_t count : {1, 100, 40'000}) {
      const auto value = [](int rank, size_t i) {
        return std::sin(static_cast<float>(i) + 100.0f * static_cast<float>(rank));
      };
      std::vector<std::vector<float>> sums(static_cast<size_t>(size));
      expect_success(run_ranks(size, [&](Messenger& messenger) {
        std::vector<float> values(count);
        for (size_t i = 0; i < count; ++i) values[i] = value(messenger.rank(), i);
        messenger.run(all_reduce(messenger, values));
        sums[static_cast<size_t>(messenger.rank())] = values;
      }));
      for (const auto& of_rank : sums) EXPECT_EQ(of_rank, sums[0]) << size << " ranks";
      for (size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (int rank = 0; rank < size; ++rank) sum += static_cast<double>(value(rank, i));
        ASSERT_NEAR(sums[0][i], sum, 1e-5);
      }
    }
}

TEST(Collectives, BroadcastSendsTheBytesOfRankZero) {
  for (const int size : {1, 2, 3, 5, 8, 11})
    for (const std::string text : {"", "configuration"})
      expect_success(run_ranks(size, [&](Messenger& messenger) {
        std::string bytes = messenger.rank() == 0 ? text : "other";
        broadcast(messenger, bytes);
        EXPECT_EQ(bytes, text);
      }));
}

TEST(Collectives, AllGatherGivesAllNumbersInTheOrderOfTheRanks) {
  for (const int size : {1, 2, 3, 4, 7, 8})
    expect_success(run_ranks(size, [&](Messenger& messenger) {
      const std::vector<double> own{messenger.rank() + 0.5, -1.0 * messenger.rank()};
      std::vector<double> expected;
      for (int rank = 0; rank < size; ++rank) {
        expected.push_back(rank + 0.5);
        expected.push_back(-1.0 * rank);
      }
      EXPECT_EQ(all_gather(messenger, own), expected);
    }));
}

TEST(Collectives, ExchangeGivesWhatAnotherRankSendsHoweverMuchItIs) {
  const auto text = [](int from) { return std::string(static_cast<size_t>(1000 * from), 'a'); };
  for (const int size : {2, 3, 4, 7})
    expect_success(run_ranks(size, [&](Messenger& messenger) {
      const int rank = messenger.rank(), to = (rank + 1) % size, from = (rank + size - 1) % size;
      EXPECT_EQ(exchange(messenger, to, text(rank), from), text(from));
    }));
}

TEST(Collectives, GatherTakesTheValuesOfEachRankInOrder) {
  const std::vector<int64_t> counts{3, 0, 2};
  expect_success(run_ranks(3, [&](Messenger& messenger) {
    const auto rank = static_cast<size_t>(messenger.rank());
    const std::vector<float> own(static_cast<size_t>(counts[rank]), static_cast<float>(rank));
    std::vector<float> all;
    gather(messenger, own, counts, [&](int, std::span<const float> values) {
      all.insert(all.end(), values.begin(), values.end());
    });
    if (rank == 0) {
      EXPECT_EQ(all, (std::vector<float>{0, 0, 0, 2, 2}));
    }
  }));
}

TEST(Shards, ArePiecesInTheOrderThatRecursiveHalvingLeaves) {
  EXPECT_EQ(shards_of({0, 64, 128, 192, 200}, 2), (Bounds{0, 128, 200}));
  EXPECT_EQ(shard_of_rank(1, 4), 2);
  EXPECT_EQ(shard_of_rank(3, 8), 6);
  EXPECT_EQ(shard_of_rank(2, 3), 2);
}

}  // namespace
}  // namespace heed::distribute
