#include "heed/executor.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/fork.h"
#include "tests/base/child.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

constexpr std::chrono::seconds kLongEnough{60};

/// The sum of [0, count), a chunk for each number.
int64_t sum_below(int64_t count) {
  std::atomic<int64_t> sum = 0;
  parallel_for(count, 1, [&](int64_t begin, int64_t) { sum += begin; });
  return sum;
}

/// The threads that chunks of a parallel_for run on. Chunks wait until there are `expected` of
/// them.
std::set<std::thread::id> threads_used(size_t expected) {
  std::mutex mutex;
  std::condition_variable arrival;
  std::set<std::thread::id> threads;
  parallel_for(4 * thread_count() + 1, 1, [&](int64_t, int64_t) {
    std::unique_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    arrival.notify_all();
    arrival.wait_for(lock, kLongEnough, [&] { return threads.size() >= expected; });
  });
  return threads;
}

/// Runs `work` on `executor` in a thread of its own.
template <typename Work>
auto on_other_thread(Executor& executor, const Work& work) {
  return std::async(std::launch::async, [&executor, work] {
    const ExecutorScope scope(executor);
    return work();
  });
}

TEST(Executor, HasTheThreadsThatWereAskedFor) {
  for (const int threads : {1, 2, 3, 1024}) EXPECT_EQ(Executor(threads).threads(), threads);
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  EXPECT_EQ(Executor().threads(), CPU_COUNT(&allowed));
  EXPECT_EQ(Executor(0).threads(), CPU_COUNT(&allowed));
  EXPECT_EQ(Executor::shared()->threads(), CPU_COUNT(&allowed));
}

TEST(Executor, RejectsNumbersOfThreadsOutOfRange) {
  expect_error([] { Executor(-1); }, "threads is -1, expected 1 to 1024, or 0 for all processors");
  expect_error([] { Executor(1025); }, "threads is 1025");
}

TEST(Executor, StartsItsThreadsWithTheFirstComputation) {
  const auto threads_of_process = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  std::thread([] {}).join();  // with the first thread a sanitizer starts one of its own
  const auto before = threads_of_process();
  Executor executor(3);
  const ExecutorScope scope(executor);
  EXPECT_EQ(threads_of_process(), before);
  EXPECT_EQ(sum_below(1), 0) << "a single chunk";
  EXPECT_EQ(threads_of_process(), before);
  EXPECT_EQ(sum_below(10), 45);
  EXPECT_EQ(threads_of_process(), before + 2);
}

TEST(Executor, ThreadsThatCannotBeStartedAreAnError) {
  if (kSanitized) GTEST_SKIP() << "a limit on the address space stops the sanitizer";
  EXPECT_EQ(in_child([] {
              const rlimit limit{size_t{1} << 30, size_t{1} << 30};
              ::setrlimit(RLIMIT_AS, &limit);
              Executor many(1024), few(2);
              const ExecutorScope scope(many);
              for (int attempt = 0; attempt < 2; ++attempt)
                expect_error([] { sum_below(2000); }, " of 1024 threads could be started");
              const ExecutorScope inner(few);
              return std::to_string(sum_below(10)) +
                     (::testing::Test::HasFailure() ? " with failures" : "");
            }),
            "45");
}

TEST(Executor, IsTheOneOfTheInnermostScope) {
  EXPECT_EQ(&current_executor(), Executor::shared().get());
  Executor three(3), five(5);
  const ExecutorScope outer(three);
  {
    const ExecutorScope inner(five);
    EXPECT_EQ(thread_count(), 5);
    EXPECT_EQ(threads_used(5).size(), 5);
  }
  EXPECT_EQ(thread_count(), 3);
  EXPECT_EQ(&current_executor(), &three);
  EXPECT_EQ(threads_used(3).size(), 3);
}

TEST(Executor, AScopeHoldsForItsThreadAlone) {
  Executor executor(7);
  const ExecutorScope scope(executor);
  EXPECT_EQ(std::async(std::launch::async, thread_count).get(), Executor::shared()->threads());
}

TEST(Executor, AScopeInsideABodyDoesNotGiveItMoreThreads) {
  Executor outer(2), inner(4);
  const ExecutorScope scope(outer);
  std::atomic<int> elsewhere = 0;
  parallel_for(4, 1, [&](int64_t, int64_t) {
    const ExecutorScope own(inner);
    const auto thread = std::this_thread::get_id();
    parallel_for(8, 1,
                 [&](int64_t, int64_t) { elsewhere += std::this_thread::get_id() != thread; });
  });
  EXPECT_EQ(elsewhere, 0);
}

// A pool whose lock serialised callers would wait forever.
TEST(Executor, WorkThatWaitsForAnotherCallersWorkDoesNotStopIt) {
  Executor executor(2);
  std::latch begun(1), done(1);
  auto waiting = on_other_thread(executor, [&] {
    std::atomic<int64_t> sum = 0;
    parallel_for(8, 1, [&](int64_t begin, int64_t) {
      if (begin == 0) begun.count_down();
      done.wait();
      sum += begin;
    });
    return sum.load();
  });
  begun.wait();
  auto other = on_other_thread(executor, [&] {
    const int64_t sum = sum_below(100);
    done.count_down();
    return sum;
  });
  ASSERT_EQ(other.wait_for(kLongEnough), std::future_status::ready);
  EXPECT_EQ(other.get(), 4950);
  EXPECT_EQ(waiting.get(), 28);
}

TEST(Executor, WhileItIsBusyOtherCallersComputeAlone) {
  Executor executor(2);
  std::latch begun(1), done(1);
  auto busy = on_other_thread(executor, [&] {
    parallel_for(2, 1, [&](int64_t begin, int64_t) {
      if (begin == 0) begun.count_down();
      done.wait();
    });
  });
  begun.wait();
  const ExecutorScope scope(executor);
  EXPECT_EQ(threads_used(1), std::set{std::this_thread::get_id()});
  int wrong = 0;
  parallel_for(8, 1, [&](int64_t, int64_t) { wrong += thread_count() != 1; });
  EXPECT_EQ(wrong, 0) << "the body is inside a parallel_for";
  expect_error([] { parallel_for(8, 1, [](int64_t, int64_t) { fail("alone"); }); }, "alone");
  EXPECT_EQ(thread_count(), 2);
  int64_t next = 0;
  parallel_in_order(8, 1, [&](int64_t begin, int64_t) { wrong += begin != next++; });
  EXPECT_EQ(wrong, 0);
  done.count_down();
  busy.get();
  EXPECT_EQ(threads_used(2).size(), 2) << "all threads are back";
}

TEST(Executor, ServesSeveralCallingThreads) {
  Executor executor(3);
  std::vector<std::future<int>> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.push_back(on_other_thread(executor, [caller] {
      int wrong = 0;
      for (int job = 0; job < 300; ++job) {
        wrong += sum_below(job) != int64_t{job} * (job - 1) / 2;
        const std::string reason = "caller " + std::to_string(caller);
        wrong +=
            error_of([&] {
              parallel_for(9, 1, [&](int64_t begin, int64_t) { require(begin < 5, "{}", reason); });
            }) != reason;
      }
      return wrong;
    }));
  for (auto& caller : callers) EXPECT_EQ(caller.get(), 0);
}

TEST(Executor, TwoComputeAtOnce) {
  Executor first(2), second(3);
  std::latch both(5);  // a chunk on every thread of both at the same time
  const auto meet = [&] {
    const int threads = thread_count();
    parallel_for(threads, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });
    return sum_below(100);
  };
  auto other = on_other_thread(first, meet);
  auto another = on_other_thread(second, meet);
  ASSERT_EQ(other.wait_for(kLongEnough), std::future_status::ready);
  EXPECT_EQ(other.get(), 4950);
  EXPECT_EQ(another.get(), 4950);
}

TEST(Executor, CanBeMadeAndDestroyedManyTimes) {
  for (int turn = 0; turn < 1000; ++turn) {
    Executor executor(1 + turn % 4);
    const ExecutorScope scope(executor);
    for (int job = 0; job < turn % 3; ++job) ASSERT_EQ(sum_below(20), 190) << turn;
  }
}

TEST(Executor, TheSharedOneOutlivesTheEndOfTheProcess) {
  // Threads of the shared Executor, and a caller that keeps them busy, are there when main() ends.
  if (!can_start_itself()) GTEST_SKIP() << "the system cannot start this program (binfmt_misc)";
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::thread([] {
          for (;;) sum_below(100);
        }).detach();
        sum_below(100);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

/// The threads of the parent are asleep, or, in the second round, may still be awake.
TEST(Executor, ComputesInAForkedChildOnceItIsRestarted) {
  Executor executor(3);
  const ExecutorScope scope(executor);
  for (const auto pause : {std::chrono::milliseconds(50), std::chrono::milliseconds(0)}) {
    ASSERT_EQ(threads_used(3).size(), 3u);
    std::this_thread::sleep_for(pause);
    EXPECT_EQ(in_child([&] {
                restart_after_fork(executor);
                return std::to_string(threads_used(3).size()) + " " +
                       std::to_string(sum_below(1000));
              }),
              "3 499500");
    EXPECT_EQ(sum_below(1000), 499500) << "the parent goes on";
  }
}

}  // namespace
}  // namespace heed
