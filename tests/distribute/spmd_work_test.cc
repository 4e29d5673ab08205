#include "heed/distribute/spmd_work.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/distribute/group_ranks.h"

namespace heed::distribute {
namespace {

using std::chrono::milliseconds;

constexpr Deadlines kShortDeadlines{.wait = milliseconds(400), .answer = milliseconds(400)};

/// Pieces "0" to "count - 1", each after a pause in which there is none.
WorkSource slow_numbers(int count, milliseconds pause, std::vector<std::string>& results) {
  using Clock = std::chrono::steady_clock;
  return {
      .next = [=, next = 0, begin = Clock::now()](bool& ended) mutable -> std::optional<WorkItem> {
        ended = next >= count;
        if (ended || Clock::now() - begin < pause) return std::nullopt;
        begin = Clock::now();
        const std::string number = std::to_string(next++);
        return WorkItem{"piece " + number, number};
      },
      .take = [&results](const std::string& result) { results.push_back(result); }};
}

/// The number times the sum of the ranks, which exchange messages for it.
std::string times_ranks(Messenger& messenger, std::string_view piece) {
  std::array<float, 1> sum{static_cast<float>(messenger.rank())};
  messenger.run(all_reduce(messenger, sum));
  return std::to_string(std::stoi(std::string(piece)) * static_cast<int>(sum[0]));
}

TEST(SpmdWork, IsDoneByAllRanksTogetherInOrder) {
  for (const int size : {2, 3, 4})
    for (const int count : {0, 1, 20}) {
      std::vector<std::string> results, expected;
      for (int i = 0; i < count; ++i) expected.push_back(std::to_string(i * size * (size - 1) / 2));
      const auto errors = GroupRanks(size).run([&](Group& group) {
        run_spmd(group, 7, slow_numbers(count, milliseconds(0), results), times_ranks);
      });
      for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
      EXPECT_EQ(results, expected);
    }
}

TEST(SpmdWork, WaitsForItsNextPieceWithoutADeadline) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run(
      [&](Group& group) {
        run_spmd(group, 7, slow_numbers(2, milliseconds(1000), results), times_ranks);
      },
      kShortDeadlines);
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
  EXPECT_EQ(results, (std::vector<std::string>{"0", "3"}));
}

TEST(SpmdWork, NamesARankThatIsLost) {
  std::vector<std::string> results;
  GroupRanks ranks(2);
  const auto errors = ranks.run(
      [&](Group& group) {
        run_spmd(group, 7, slow_numbers(9, milliseconds(0), results),
                 [&](Messenger& messenger, std::string_view piece) {
                   if (messenger.rank() == 1 && piece == "5") ranks.silence(1);
                   return times_ranks(messenger, piece);
                 });
      },
      kShortDeadlines);
  EXPECT_EQ(message_of(errors[0]),
            "rank 1 (host host1) did not arrive within 0 s; missing: piece 5");
  EXPECT_EQ(results.size(), 5U);
}

TEST(SpmdWork, RefusesARankWithAnotherFingerprintOrAnError) {
  std::vector<std::string> results;
  auto errors = GroupRanks(2).run([&](Group& group) {
    run_spmd(group, 7U + static_cast<uint64_t>(group.rank()),
             slow_numbers(9, milliseconds(0), results), times_ranks);
  });
  EXPECT_EQ(message_of(errors[0]),
            "rank 1 (host host1) has another model, or another build of heed, than rank 0");
  EXPECT_THROW(std::rethrow_exception(errors[1]), ReportedElsewhere);
  errors = GroupRanks(2).run([&](Group& group) {
    if (group.rank() == 1) report_to_root(group, "no such file");
    run_spmd(group, 7, slow_numbers(9, milliseconds(0), results), times_ranks);
  });
  EXPECT_EQ(message_of(errors[0]), "rank 1 (host host1): no such file");
}

TEST(SpmdWork, EndsOnAllRanksWhenRankZeroTakesNoMore) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run([&](Group& group) {
    WorkSource source = slow_numbers(9, milliseconds(0), results);
    source.take = [](const std::string& result) { require(result != "9", "the disk is full"); };
    run_spmd(group, 7, source, times_ranks);
  });
  EXPECT_EQ(message_of(errors[0]), "the disk is full");
  for (const size_t rank : {1, 2})
    EXPECT_THROW(std::rethrow_exception(errors[rank]), ReportedElsewhere);
}

TEST(SpmdWork, EndsWhenTheProcessIsToldToEnd) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(2).run(
      [&](Group& group) {
        run_spmd(group, 7, slow_numbers(2, milliseconds(60'000), results), times_ranks);
      },
      {},
      [begin = std::chrono::steady_clock::now()] {
        return std::chrono::steady_clock::now() - begin > milliseconds(200);
      });
  EXPECT_EQ(message_of(errors[0]), "a signal has ended the work");
}

}  // namespace
}  // namespace heed::distribute
