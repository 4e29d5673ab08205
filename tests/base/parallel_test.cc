#include "heed/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/base/testing.h"
#include "tests/base/threads.h"

namespace heed {
namespace {

/// Runs with 1 to 8 threads.
class ParallelFor : public testing::TestWithParam<int> {
  const Threads threads_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 3, 5, 8));

TEST_P(ParallelFor, VisitsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 7, 64, 1000})
    for (const int64_t grain : {1, 3, 64, 5000}) {
      std::vector<int> visits(static_cast<size_t>(count));
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), count) << count << ", " << grain;
    }
}

TEST_P(ParallelFor, ChunksAreTheSameForAnyNumberOfThreads) {
  std::atomic<int> chunks = 0, wrong = 0;
  parallel_for(100, 8, [&](int64_t begin, int64_t end) {
    ++chunks;
    if (begin % 8 != 0 || end != std::min<int64_t>(begin + 8, 100)) ++wrong;
  });
  EXPECT_EQ(chunks, 13);
  EXPECT_EQ(wrong, 0);
}

TEST_P(ParallelFor, TreatsAGrainOfZeroAsOne) {
  std::atomic<int> chunks = 0;
  parallel_for(10, 0, [&](int64_t, int64_t) { ++chunks; });
  EXPECT_EQ(chunks, 10);
}

TEST_P(ParallelFor, HandlesTheLargestCount) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> sum = 0;
  parallel_for(kMax, kMax, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, kMax);
}

TEST_P(ParallelFor, RunsManyShortJobsInSuccession) {
  std::atomic<int64_t> sum = 0;
  for (int job = 0; job < 200; ++job)
    parallel_for(16, 1, [&](int64_t begin, int64_t) { sum += begin; });
  EXPECT_EQ(sum, 200 * 120);
}

TEST_P(ParallelFor, WakesSleepingThreads) {
  std::atomic<int> chunks = 0;
  for (int job = 0; job < 3; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    parallel_for(16, 1, [&](int64_t, int64_t) { ++chunks; });
  }
  EXPECT_EQ(chunks, 48);
}

TEST_P(ParallelFor, RethrowsAnExceptionAndStaysUsable) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    expect_error(
        [] {
          parallel_for(100, 1, [](int64_t begin, int64_t) { require(begin < 40, "too far"); });
        },
        "too far");
    std::atomic<int> chunks = 0;
    parallel_for(100, 1, [&](int64_t, int64_t) { ++chunks; });
    EXPECT_EQ(chunks, 100);
  }
}

TEST_P(ParallelFor, RethrowsExceptionsOfAnyType) {
  const auto broken = [](int64_t, int64_t) { throw std::logic_error("not heed's"); };
  EXPECT_THROW(parallel_for(8, 1, broken), std::logic_error);
  EXPECT_THROW(parallel_for(1, 1, broken), std::logic_error);
}

TEST_P(ParallelFor, RunsNestedCallsOnTheCallingThread) {
  std::atomic<int> chunks = 0, elsewhere = 0;
  parallel_for(6, 1, [&](int64_t, int64_t) {
    const auto thread = std::this_thread::get_id();
    parallel_for(7, 2, [&](int64_t begin, int64_t end) {
      chunks += static_cast<int>(end - begin);
      if (std::this_thread::get_id() != thread) ++elsewhere;
    });
  });
  EXPECT_EQ(chunks, 42);
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(ParallelFor, RethrowsAnExceptionFromANestedCall) {
  expect_error(
      [] {
        parallel_for(4, 1, [](int64_t, int64_t) {
          parallel_for(4, 1, [](int64_t, int64_t) { fail("deep"); });
        });
      },
      "deep");
}

TEST_P(ParallelFor, ThreadCountIsOneInsideAParallelBody) {
  EXPECT_EQ(thread_count(), GetParam());
  std::atomic<int> wrong = 0;
  parallel_for(16, 1, [&](int64_t, int64_t) { wrong += thread_count() != 1; });
  EXPECT_EQ(wrong, 0);
  parallel_for(1, 1, [&](int64_t, int64_t) { wrong += thread_count() != GetParam(); });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ParallelFor, InOrderVisitsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 7, 64, 1000})
    for (const int64_t grain : {0, 1, 3, 5000}) {
      std::vector<int> visits(static_cast<size_t>(count));
      parallel_in_order(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), count) << count << ", " << grain;
    }
}

TEST_P(ParallelFor, InOrderStartsChunksInOrder) {
  std::atomic<int64_t> started = 0, wrong = 0;
  parallel_in_order(100, 1, [&](int64_t begin, int64_t) {
    // Each other thread may have taken an earlier chunk and not yet executed its first instruction.
    wrong += begin > started++ + GetParam() - 1;
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ParallelFor, InOrderRethrowsTheExceptionOfTheLowestChunk) {
  for (int attempt = 0; attempt < 20; ++attempt)
    expect_error(
        [] {
          parallel_in_order(100, 1, [](int64_t begin, int64_t) {
            if (begin == 13) std::this_thread::sleep_for(std::chrono::microseconds(200));
            require(begin < 13, "chunk {} failed", begin);
          });
        },
        "chunk 13 failed");
}

TEST_P(ParallelFor, InOrderRunsNestedCallsOnTheCallingThread) {
  std::atomic<int> elsewhere = 0;
  parallel_in_order(6, 1, [&](int64_t, int64_t) {
    const auto thread = std::this_thread::get_id();
    const auto check = [&](int64_t, int64_t) { elsewhere += std::this_thread::get_id() != thread; };
    parallel_for(7, 2, check);
    parallel_in_order(7, 2, check);
  });
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace heed
