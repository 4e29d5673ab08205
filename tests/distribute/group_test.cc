#include "heed/distribute/group.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/distribute/group_ranks.h"

namespace heed::distribute {
namespace {

using std::chrono::milliseconds;

constexpr Deadlines kShort{.wait = milliseconds(500), .answer = milliseconds(400)};

TEST(Group, OfOneProcessLeavesEverythingAsItIs) {
  Group group;
  std::vector<float> values{1, 2};
  group.reduce_scatter(values, {0, 2}).get();
  group.all_gather(std::as_writable_bytes(std::span(values)), {0, 2}, 4).get();
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  EXPECT_EQ(group.all_gather(std::vector<double>{3.0}), std::vector<double>{3.0});
  EXPECT_TRUE(group.is_root() && group.alone());
  EXPECT_EQ(group.name_of(0), "rank 0");
}

TEST(Group, RunsOperationsInOrderWhileTheCallerGoesOn) {
  GroupRanks ranks(4);
  const auto errors = ranks.run([](Group& group) {
    std::vector<std::vector<float>> buckets(10, std::vector<float>(64, 1));
    std::vector<std::future<void>> sums;
    for (auto& bucket : buckets) sums.push_back(group.reduce_scatter(bucket, {0, 16, 32, 48, 64}));
    const auto begin = static_cast<size_t>(16 * shard_of_rank(group.rank(), 4));
    for (size_t i = 0; i < buckets.size(); ++i) {
      sums[i].get();
      for (size_t j = begin; j < begin + 16; ++j) EXPECT_EQ(buckets[i][j], 4);
    }
    EXPECT_EQ(group.all_gather(std::vector<double>{1.0 * group.rank()}),
              (std::vector<double>{0, 1, 2, 3}));
    EXPECT_GT(group.traffic().bytes_sent, 10 * 48 * 4);
    EXPECT_EQ(group.name_of(2), "rank 2 (host host2)");
  });
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
}

TEST(Group, BeginsReductionsBeforeOlderOnesHaveEnded) {
  constexpr int64_t kHalf = 1 << 14;
  const auto mailbox = std::make_shared<LocalMailbox>(2);
  const auto errors = GroupRanks(mailbox).run([&](Group& group) {
    if (group.rank() == 1) {
      // Rank 0 sends its halves of several buckets though this rank has not begun.
      const auto begin = std::chrono::steady_clock::now();
      while (mailbox->bytes() < 3 * kHalf * 4 &&
             std::chrono::steady_clock::now() - begin < milliseconds(5000))
        std::this_thread::sleep_for(milliseconds(1));
      EXPECT_GE(mailbox->bytes(), 3 * kHalf * 4);
    }
    std::vector<std::vector<float>> buckets(5, std::vector<float>(2 * kHalf, 1));
    std::vector<std::future<void>> sums;
    for (auto& bucket : buckets)
      sums.push_back(group.reduce_scatter(bucket, {0, kHalf, 2 * kHalf}));
    for (size_t i = 0; i < buckets.size(); ++i) {
      group.wait(sums[i]);
      EXPECT_EQ(buckets[i][static_cast<size_t>(kHalf * shard_of_rank(group.rank(), 2))], 2);
    }
  });
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
}

/// How many of the ranks report, and what.
std::vector<std::string> reports(const std::vector<std::exception_ptr>& errors) {
  std::vector<std::string> found;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    try {
      std::rethrow_exception(error);
    } catch (const RankMissing& missing) {
      found.emplace_back(missing.what());
    } catch (const ReportedElsewhere&) {
    } catch (const std::exception& other) {
      found.push_back(fmt::format("unexpected: {}", other.what()));
    }
  }
  return found;
}

/// As TCP after a link was down: what waits to be sent is sent when more follows.
TEST(Group, ARankThatWaitsSendsMoreSoThatAStalledConnectionGoesOn) {
  const auto mailbox = std::make_shared<LocalMailbox>(3);
  const auto rank = [&](Group& group) {
    group.all_gather(std::array{0.0});
    mailbox->stall();
    EXPECT_EQ(group.all_gather(std::array{1.0}), std::vector(3, 1.0));
  };
  run_groups(mailbox, rank, {.wait = milliseconds(1200)});
}

TEST(Group, OneRankNamesTheOneThatDoesNotAnswer) {
  GroupRanks ranks(4);
  const auto errors = ranks.run(
      [&](Group& group) {
        group.all_gather(std::vector<double>{0});
        if (group.rank() == 3) ranks.silence(3);
        group.all_gather(std::vector<double>{0});
      },
      kShort);
  std::vector<std::exception_ptr> of_others(errors.begin(), errors.begin() + 3);
  EXPECT_EQ(reports(of_others),
            std::vector<std::string>{"rank 3 (host host3) did not arrive within 0 s"});
}

TEST(Group, ARankThatReportsAnErrorEndsTheOthersAtOnce) {
  GroupRanks ranks(3);
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = ranks.run([&](Group& group) {
    group.all_gather(std::vector<double>{0});
    if (group.is_root()) {
      group.report_failure();
      fail("the disk is full");
    }
    EXPECT_THROW(group.all_gather(std::vector<double>{0}), ReportedElsewhere);
    EXPECT_TRUE(group.failure_is_reported());
    fail("as well");
  });
  EXPECT_EQ(message_of(errors[0]), "the disk is full");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
}

/// What rank 1 of 2 throws, which is stopped while rank 0 sends it a message and then `fails`.
std::string error_of_stopped_rank(const std::function<void(Messenger&)>& fails) {
  const auto mailbox = std::make_shared<LocalMailbox>(2);
  std::atomic<bool> stopped = false;
  mailbox->before_send = [&](int to, int) {
    while (stopped && to == 0) std::this_thread::sleep_for(milliseconds(1));
  };
  const auto rank = [&](Messenger& messenger) {
    std::array<std::byte, 8> bytes{};
    if (messenger.rank() == 1) return messenger.exchange(0, {}, 0, bytes);
    stopped = true;
    std::this_thread::sleep_for(milliseconds(1000));
    messenger.exchange(1, bytes, 1, {});
    fails(messenger);
    stopped = false;
  };
  const auto run =
      run_ranks(2, rank, {.wait = milliseconds(1200), .answer = milliseconds(200)}, mailbox);
  return message_of(run.errors[1]);
}

/// A message may be read from the memory of its sender, which the sender frees when it fails.
TEST(Group, ARankThatWasStoppedDoesNotUseTheMessageOfOneThatHasFailed) {
  const std::string expected = "rank 0 (host host0) has ended with an error";
  EXPECT_EQ(error_of_stopped_rank([](Messenger& messenger) { messenger.report_failure(); }),
            expected);
  EXPECT_EQ(error_of_stopped_rank([](Messenger& messenger) {
              std::array<std::byte, 8> bytes{};
              EXPECT_THROW(messenger.exchange(1, {}, 1, bytes), RankMissing);
            }),
            expected);
}

/// What rank 0 of 2 throws when its transport cannot reach rank 1 any more, or cannot send it the
/// messages of operations alone.
std::string error_if_messages_fail(bool rank_is_lost) {
  const auto mailbox = std::make_shared<LocalMailbox>(2);
  std::atomic<bool> fails = false;
  mailbox->before_send = [&](int to, int tag) {
    require(!fails || to != 1 || (tag == kStatusTag && !rank_is_lost), "the endpoint is gone");
  };
  GroupRanks ranks(mailbox);
  const auto errors = ranks.run(
      [&](Group& group) {
        group.all_gather(std::vector<double>{0});
        if (group.is_root()) {
          if (rank_is_lost) ranks.silence(1);
          fails = true;
        }
        group.all_gather(std::vector<double>{0});
      },
      {.wait = milliseconds(1'000), .answer = milliseconds(200)});
  return message_of(errors[0]);
}

TEST(Group, ARankThatCannotBeReachedIsNamed) {
  EXPECT_EQ(error_if_messages_fail(true), "rank 1 (host host1) does not answer any more");
}

TEST(Group, AnErrorOfTheTransportIsReportedIfAllRanksAnswer) {
  EXPECT_EQ(error_if_messages_fail(false), "the endpoint is gone");
}

TEST(Group, TheRankThatKeepsOthersWaitingIsNamedThoughItAnswers) {
  GroupRanks ranks(4);
  const auto errors = ranks.run(
      [&](Group& group) {
        if (group.rank() == 2) std::this_thread::sleep_for(milliseconds(2500));
        group.all_gather(std::vector<double>{0});
      },
      kShort);
  std::vector<std::exception_ptr> of_others(errors.begin(), errors.end());
  of_others.erase(of_others.begin() + 2);
  EXPECT_EQ(reports(of_others),
            std::vector<std::string>{"rank 2 (host host2) did not arrive within 0 s"});
}

TEST(Group, ARankThatIsToldToEndLooksForTheMissingOneAtOnce) {
  GroupRanks ranks(2);
  std::atomic<bool> told = false;
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = ranks.run(
      [&](Group& group) {
        group.all_gather(std::vector<double>{0});
        if (group.rank() == 1) {
          ranks.silence(1);
          told = true;
          return;
        }
        group.all_gather(std::vector<double>{0});
      },
      {.wait = milliseconds(20'000), .answer = milliseconds(200)}, [&] { return told.load(); });
  EXPECT_EQ(message_of(errors[0]), "rank 1 (host host1) does not answer any more");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
}

TEST(Group, ASlowRankIsWaitedForByThoseThatAreToldToEnd) {
  GroupRanks ranks(2);
  const auto errors = ranks.run(
      [&](Group& group) {
        if (group.rank() == 1) std::this_thread::sleep_for(milliseconds(500));
        group.all_gather(std::vector<double>{0});
      },
      {.wait = milliseconds(20'000), .answer = milliseconds(200)}, [] { return true; });
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
}

TEST(Group, ARankThatHasSentItsLastMessageAndEndedIsNotMissing) {
  const auto mailbox = std::make_shared<LocalMailbox>(2);
  std::atomic<bool> told = false;
  const auto errors = GroupRanks(mailbox).run(
      [&](Group& group) {
        group.all_gather(std::vector<double>{0});
        char message = 0;
        const auto bytes = std::as_writable_bytes(std::span(&message, 1));
        if (group.rank() == 1) {
          mailbox->hold_after(0);
          group.run([&](Messenger& messenger) { messenger.exchange(0, bytes, 0, {}); }).get();
          return;
        }
        const std::jthread network([&] {
          std::this_thread::sleep_for(milliseconds(200));
          told = true;
          std::this_thread::sleep_for(milliseconds(100));
          mailbox->release();
        });
        auto arrival =
            group.run([&](Messenger& messenger) { messenger.exchange(1, {}, 1, bytes); });
        group.wait(arrival);
      },
      {.wait = milliseconds(20'000), .answer = milliseconds(8'000)}, [&] { return told.load(); });
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
}

TEST(Group, ARankThatFailsDoesNotWaitForItsOperations) {
  GroupRanks ranks(2);
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = ranks.run(
      [&](Group& group) {
        group.all_gather(std::vector<double>{0});
        if (group.rank() == 1) fail("rank 1 is gone");
        const auto values = std::make_shared<std::vector<float>>(64);
        const auto never = group.reduce_scatter(*values, {0, 32, 64}, values);
        fail("out of memory");
      },
      {.wait = milliseconds(20'000), .answer = milliseconds(200)});
  EXPECT_EQ(message_of(errors[0]), "out of memory");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
}

TEST(Group, RanksThatEndWaitForOneThatStillWorks) {
  const auto mailbox = std::make_shared<LocalMailbox>(3);
  std::atomic<bool> works = true;
  std::atomic<int> finished = 0;
  mailbox->finish = [&](int) {
    EXPECT_FALSE(works);
    ++finished;
  };
  GroupRanks(mailbox).run(
      [&](Group& group) {
        if (group.rank() != 1) return;
        std::this_thread::sleep_for(milliseconds(1500));
        works = false;
      },
      kShort);
  EXPECT_EQ(finished, 3);
}

TEST(Group, AConnectionThatDoesNotEndIsGivenUp) {
  const auto mailbox = std::make_shared<LocalMailbox>(2);
  std::promise<void> network_is_back, over;
  mailbox->finish = [&](int rank) {
    if (rank != 0) return;
    network_is_back.get_future().wait();
    over.set_value();
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = GroupRanks(mailbox).run(
      [](Group& group) { group.all_gather(std::vector<double>{0}); }, kShort);
  for (const auto& error : errors) EXPECT_EQ(message_of(error), "");
  const auto seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(seconds, kShort.wait);
  EXPECT_LT(seconds, milliseconds(10'000));
  // The Group is gone when its thread goes on.
  network_is_back.set_value();
  over.get_future().wait();
}

TEST(Group, AfterAFailureEveryOperationFails) {
  GroupRanks ranks(2);
  const auto errors = ranks.run(
      [&](Group& group) {
        if (group.rank() == 1) {
          ranks.silence(1);
          return;
        }
        std::vector<double> values{0};
        EXPECT_THROW(group.all_gather(values), RankMissing);
        EXPECT_THROW(group.all_gather(values), RankMissing);
      },
      kShort);
  EXPECT_EQ(message_of(errors[0]), "");
}

}  // namespace
}  // namespace heed::distribute
