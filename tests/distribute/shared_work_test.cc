#include "heed/distribute/shared_work.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/distribute/group_ranks.h"

namespace heed::distribute {
namespace {

using std::chrono::milliseconds;

constexpr Deadlines kShortOfSharedWork{.wait = milliseconds(400), .answer = milliseconds(400)};

/// Pieces "0" to "count - 1".
WorkSource numbers(int count, std::vector<std::string>& results) {
  return {.next = [count, next = 0](bool& ended) mutable -> std::optional<WorkItem> {
            ended = next >= count - 1;
            if (next >= count) return std::nullopt;
            const std::string number = std::to_string(next++);
            return WorkItem{"piece " + number, number};
          },
          .take = [&results](const std::string& result) { results.push_back(result); }};
}

std::string squared(std::string_view piece) {
  const int number = std::stoi(std::string(piece));
  return std::to_string(number * number);
}

std::vector<std::string> squares(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(i * i));
  return all;
}

TEST(SharedWork, GivesAllResultsInOrderOnAnyNumberOfRanks) {
  for (const int size : {2, 3, 5, 8})
    for (const int count : {0, 1, 2, 7, 200}) {
      std::vector<std::string> results;
      const auto errors = GroupRanks(size).run([&](Group& group) {
        share_work(group, 7, numbers(count, results), [&](std::string_view piece) {
          if (piece.back() == '3') std::this_thread::sleep_for(milliseconds(3));
          return squared(piece);
        });
      });
      for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
      EXPECT_EQ(results, squares(count)) << size << " ranks";
    }
}

TEST(SharedWork, IsDoneByAllRanks) {
  std::vector<std::string> results;
  std::array<std::atomic<int>, 4> done{};
  GroupRanks(4).run([&](Group& group) {
    share_work(group, 7, numbers(200, results), [&](std::string_view piece) {
      ++done[static_cast<size_t>(group.rank())];
      std::this_thread::sleep_for(milliseconds(2));
      return squared(piece);
    });
  });
  for (const auto& count : done) EXPECT_GT(count, 20);
}

TEST(SharedWork, DoesNotTakeARankThatComputesForLongForMissing) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run(
      [&](Group& group) {
        share_work(group, 7, numbers(6, results), [&](std::string_view piece) {
          if (piece == "1" || piece == "2") std::this_thread::sleep_for(milliseconds(1500));
          return squared(piece);
        });
      },
      kShortOfSharedWork);
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
  EXPECT_EQ(results, squares(6));
}

TEST(SharedWork, NamesTheRankThatIsLostAndItsPiecesAfterTheResultsBeforeThem) {
  std::vector<std::string> results;
  std::string lost;  // the piece that rank 2 computes when it is lost
  GroupRanks ranks(3);
  const auto errors = ranks.run(
      [&](Group& group) {
        share_work(group, 7, numbers(1000, results), [&](std::string_view piece) {
          std::this_thread::sleep_for(milliseconds(2));
          if (group.rank() == 2 && lost.empty() && std::stoi(std::string(piece)) >= 40) {
            lost = piece;
            ranks.silence(2);
          }
          return squared(piece);
        });
      },
      kShortOfSharedWork);
  const std::string message = message_of(errors[0]);
  EXPECT_TRUE(message.starts_with("rank 2 (host host2) did not arrive within 0 s; missing: piece "))
      << message;
  EXPECT_NE(message.find("piece " + lost), std::string::npos) << message;
  EXPECT_GE(results.size(), 30U);
  EXPECT_LE(results.size(), std::stoul(lost));
  EXPECT_EQ(results, squares(static_cast<int>(results.size())));
}

TEST(SharedWork, NamesTheRankThatFails) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(2).run([&](Group& group) {
    share_work(group, 7, numbers(100, results), [&](std::string_view piece) -> std::string {
      std::this_thread::sleep_for(milliseconds(1));
      if (group.rank() == 1) throw std::bad_alloc();
      return squared(piece);
    });
  });
  EXPECT_TRUE(message_of(errors[0]).starts_with("rank 1 (host host1): std::bad_alloc; missing: "))
      << message_of(errors[0]);
  EXPECT_THROW(std::rethrow_exception(errors[1]), ReportedElsewhere);
}

TEST(SharedWork, RefusesARankWithAnotherFingerprint) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run([&](Group& group) {
    share_work(group, group.rank() == 2 ? 8 : 7, numbers(100, results),
               [&](std::string_view piece) {
                 std::this_thread::sleep_for(milliseconds(1));
                 return squared(piece);
               });
  });
  EXPECT_EQ(message_of(errors[0]),
            "rank 2 (host host2) has another model, or another build of heed, than rank 0");
}

TEST(SharedWork, RefusesARankWithAnotherFingerprintThatJoinsWhenAllIsDone) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(2).run(
      [&](Group& group) {
        if (group.rank() == 1) std::this_thread::sleep_for(milliseconds(300));
        share_work(group, group.rank() == 1 ? 8 : 7, numbers(3, results), squared);
      },
      kShortOfSharedWork);
  EXPECT_EQ(results.size(), 3u);
  EXPECT_EQ(message_of(errors[0]),
            "rank 1 (host host1) has another model, or another build of heed, than rank 0");
}

TEST(SharedWork, ReportsARankThatCannotWork) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run([&](Group& group) {
    if (group.rank() == 1) report_to_root(group, "no such file");
    share_work(group, 7, numbers(1000, results), [&](std::string_view piece) {
      std::this_thread::sleep_for(milliseconds(1));
      return squared(piece);
    });
  });
  EXPECT_EQ(message_of(errors[0]), "rank 1 (host host1): no such file");
}

TEST(SharedWork, ThrowsAnErrorOfTheSourceAfterAllResultsBeforeIt) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run([&](Group& group) {
    WorkSource source = numbers(10, results);
    const auto next = source.next;
    source.next = [&](bool& ended) {
      const auto piece = next(ended);
      ended = false;
      if (!piece) fail("line 11 is damaged");
      return piece;
    };
    share_work(group, 7, source, squared);
  });
  EXPECT_EQ(message_of(errors[0]), "line 11 is damaged");
  EXPECT_EQ(results, squares(10));
}

TEST(SharedWork, EndsOnAllRanksWhenRankZeroTakesNoMore) {
  std::vector<std::string> results;
  const auto errors = GroupRanks(3).run([&](Group& group) {
    WorkSource source = numbers(100, results);
    source.take = [&](const std::string& result) { require(result != "25", "the disk is full"); };
    share_work(group, 7, source, squared);
  });
  EXPECT_EQ(message_of(errors[0]), "the disk is full");
  EXPECT_THROW(std::rethrow_exception(errors[1]), ReportedElsewhere);
  EXPECT_THROW(std::rethrow_exception(errors[2]), ReportedElsewhere);
}

TEST(SharedWork, EndsWhenTheProcessIsToldToEndWhileAllRanksLive) {
  std::vector<std::string> results;
  std::atomic<bool> told = false;
  const auto errors = GroupRanks(3).run(
      [&](Group& group) {
        share_work(group, 7, numbers(10000, results), [&](std::string_view piece) {
          if (piece == "50") told = true;
          std::this_thread::sleep_for(milliseconds(2));
          return squared(piece);
        });
      },
      kShortOfSharedWork, [&] { return told.load(); });
  EXPECT_TRUE(message_of(errors[0]).starts_with("a signal has ended the work before piece "))
      << message_of(errors[0]);
}

}  // namespace
}  // namespace heed::distribute
