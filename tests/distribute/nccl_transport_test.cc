#include "heed/distribute/nccl_transport.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "tests/distribute/fake_nccl.h"
#include "tests/distribute/group_ranks.h"

namespace heed::distribute {
namespace {

using std::chrono::milliseconds;

constexpr Deadlines kShortOfNccl{.wait = milliseconds(500), .answer = milliseconds(400)};
constexpr milliseconds kConnecting{2000};

/// As many as make messages of all kinds: small ones, large ones, and ones of several parts.
constexpr int64_t kCount = 5'000'001;

/// Values of very different sizes, so that the order of their sum can be seen in the bits.
std::vector<float> values_of(int rank, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((rank * 7919 + static_cast<int>(i) * 31) % 1000 - 500) *
                static_cast<float>(1 << ((static_cast<size_t>(rank) * 5 + i) % 20));
  return values;
}

/// Of unequal sizes.
Bounds shards_of_count(int64_t count, int size) {
  Bounds shards;
  for (int64_t i = 0; i <= size; ++i) shards.push_back(count * i * i / (size * size));
  return shards;
}

void expect_success(const std::vector<std::exception_ptr>& errors) {
  for (const std::exception_ptr& error : errors) EXPECT_EQ(message_of(error), "");
}

/// Runs `rank` on Groups, which use the double if there is one.
std::vector<std::exception_ptr> run_ranks_with(FakeNccl* nccl, int size,
                                               const std::function<void(Group&)>& rank,
                                               Deadlines deadlines = {}) {
  return GroupRanks(size).run(
      [&](Group& group) {
        if (nccl)
          use_nccl(
              group, kConnecting, [nccl]() -> auto& { return nccl->plugin(); });
        rank(group);
      },
      deadlines);
}

/// What each rank has after one operation of each kind.
std::vector<std::vector<float>> results(FakeNccl* nccl, int size) {
  std::vector<std::vector<float>> of_ranks(static_cast<size_t>(size));
  const Bounds shards = shards_of_count(kCount, size);
  expect_success(run_ranks_with(nccl, size, [&](Group& group) {
    std::vector<float> values = values_of(group.rank(), kCount);
    auto sum = group.reduce_scatter(values, shards);
    group.wait(sum);
    auto all = group.all_gather(std::as_writable_bytes(std::span(values)), shards, sizeof(float));
    group.wait(all);
    std::vector<float> reduced = values_of(group.rank(), 100'000);
    auto reduce =
        group.run([&](Messenger& messenger) { messenger.run(all_reduce(messenger, reduced)); });
    group.wait(reduce);
    values.insert(values.end(), reduced.begin(), reduced.end());
    std::string text(group.is_root() ? 200'000 : 1, static_cast<char>('a' + group.rank()));
    group.broadcast(text);
    values.insert(values.end(), text.begin(), text.end());
    std::vector<int64_t> counts;
    for (int other = 0; other < size; ++other) counts.push_back(30'000 * other);
    const auto own = static_cast<size_t>(counts[static_cast<size_t>(group.rank())]);
    group.gather(std::span(values).first(own), counts, [&](int, std::span<const float> part) {
      const std::vector<float> copy(part.begin(), part.end());
      values.insert(values.end(), copy.begin(), copy.end());
    });
    of_ranks[static_cast<size_t>(group.rank())] = std::move(values);
  }));
  return of_ranks;
}

TEST(NcclTransport, OperationsHaveTheBitsOfMessagesWithoutIt) {
  for (const int size : {2, 3, 4, 8}) {
    FakeNccl nccl;
    const auto with = results(&nccl, size), without = results(nullptr, size);
    for (int rank = 0; rank < size; ++rank)
      EXPECT_TRUE(with[static_cast<size_t>(rank)] == without[static_cast<size_t>(rank)])
          << "rank " << rank << " of " << size;
    EXPECT_GT(nccl.bytes, 2 * (size - 1) * kCount * 4);
    EXPECT_EQ(nccl.finished, size);
    EXPECT_EQ(nccl.given_up, 0);
  }
}

TEST(NcclTransport, SmallMessagesTravelAsBefore) {
  FakeNccl nccl;
  expect_success(run_ranks_with(&nccl, 4, [&](Group& group) {
    group.all_gather(std::vector<double>{1});  // after it, all have connected
    const int64_t before = nccl.bytes;
    group.all_gather(std::vector<double>(1000));
    std::vector<float> values(16'000);
    auto sum = group.reduce_scatter(values, {0, 4000, 8000, 12'000, 16'000});
    group.wait(sum);
    std::string text(NcclTransport::kLeastBytes - 1, 'a');
    group.broadcast(text);
    EXPECT_EQ(nccl.bytes, before);
  }));
}

TEST(NcclTransport, SeveralOperationsAreUnderWayAtOnce) {
  for (const int size : {2, 4, 5}) {
    FakeNccl nccl;
    const Bounds shards = shards_of_count(400'000, size);
    const auto sums = [&](FakeNccl* used) {
      std::vector<std::vector<float>> own(static_cast<size_t>(size));
      expect_success(run_ranks_with(used, size, [&](Group& group) {
        std::vector<std::vector<float>> buckets;
        for (int i = 0; i < 12; ++i) buckets.push_back(values_of(group.rank() + i, 400'000));
        std::vector<std::future<void>> futures;
        for (auto& bucket : buckets) {
          // Ranks begin at different times, so that operations overtake each other.
          std::this_thread::sleep_for(milliseconds((group.rank() * 5 + 3) % 7));
          futures.push_back(group.reduce_scatter(bucket, shards));
        }
        const auto shard = static_cast<size_t>(shard_of_rank(group.rank(), size));
        for (size_t i = 0; i < buckets.size(); ++i) {
          group.wait(futures[i]);
          own[static_cast<size_t>(group.rank())].insert(
              own[static_cast<size_t>(group.rank())].end(), buckets[i].begin() + shards[shard],
              buckets[i].begin() + shards[shard + 1]);
        }
      }));
      return own;
    };
    EXPECT_TRUE(sums(&nccl) == sums(nullptr)) << size << " ranks";
    EXPECT_GT(nccl.most_at_once, 1U);
    EXPECT_LE(nccl.most_at_once, Messenger::kMaxConcurrent);
  }
}

TEST(NcclTransport, RankThatDoesNotArriveIsNamed) {
  FakeNccl nccl;
  const auto errors = run_ranks_with(
      &nccl, 2,
      [](Group& group) {
        std::vector<float> values(100'000);
        if (group.rank() == 1) return std::this_thread::sleep_for(milliseconds(2000));
        auto sum = group.reduce_scatter(values, {0, 50'000, 100'000});
        group.wait(sum);
      },
      kShortOfNccl);
  EXPECT_EQ(message_of(errors[0]), "rank 1 (host host1) did not arrive within 0 s");
  EXPECT_EQ(nccl.given_up, 2);  // rank 1, too, which finds that rank 0 has ended
}

TEST(NcclTransport, ErrorsOfNcclEndTheOperation) {
  FakeNccl nccl;
  const auto errors = run_ranks_with(
      &nccl, 2,
      [&](Group& group) {
        std::vector<float> values(100'000);
        nccl.fail_exchanges_of(1);
        auto sum = group.reduce_scatter(values, {0, 50'000, 100'000});
        group.wait(sum);
      },
      kShortOfNccl);
  EXPECT_EQ(message_of(errors[1]), "NCCL: the network is down");
}

TEST(NcclTransport, OneRankReportsThatItCannotBeUsed) {
  FakeNccl nccl;
  const auto errors = GroupRanks(3).run([&](Group& group) {
    use_nccl(
        group, kConnecting, [&]() -> auto& {
          require(group.rank() != 2, "no GPU");
          return nccl.plugin();
        });
  });
  EXPECT_EQ(message_of(errors[2]), "rank 2 (host host2): no GPU");
  EXPECT_THROW(std::rethrow_exception(errors[0]), ReportedElsewhere);
  EXPECT_THROW(std::rethrow_exception(errors[1]), ReportedElsewhere);
  EXPECT_EQ(nccl.given_up, 2);
}

TEST(NcclTransport, ConnectingHasADeadline) {
  FakeNccl nccl;
  nccl.stall();
  const auto errors = run_ranks_with(&nccl, 2, [](Group&) {});
  EXPECT_EQ(message_of(errors[0]), "NCCL has not connected the ranks within 2 s");
  EXPECT_THROW(std::rethrow_exception(errors[1]), ReportedElsewhere);
}

TEST(NcclTransport, TakesTheGpuOfTheRankOnItsHost) {
  FakeNccl nccl;
  ::setenv("SLURM_LOCALID", "3", 1);
  const NcclConnection by_slurm(nccl.plugin());
  ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "5", 1);
  const NcclConnection by_open_mpi(nccl.plugin());
  ::unsetenv("SLURM_LOCALID");
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
  const NcclConnection alone(nccl.plugin());
  EXPECT_EQ(nccl.local_ranks, (std::set<int>{0, 3, 5}));
}

}  // namespace
}  // namespace heed::distribute
