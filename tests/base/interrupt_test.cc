#include "heed/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "heed/base/interrupt.h"
#include "heed/base/parallel.h"

namespace heed {
namespace {

using namespace std::chrono_literals;

TEST(Interrupt, NothingIsInterruptedWithoutAScope) { EXPECT_NO_THROW(check_interrupted()); }

TEST(Interrupt, AScopeInterruptsFromTheFirstYesToItsEnd) {
  bool now = false;
  int asked = 0;
  {
    const InterruptScope scope([&] { return ++asked, now; }, 0ms);
    EXPECT_NO_THROW(check_interrupted());
    EXPECT_FALSE(scope.interrupted());
    now = true;
    EXPECT_THROW(check_interrupted(), Interrupted);
    EXPECT_TRUE(scope.interrupted());
    now = false;
    EXPECT_THROW(check_interrupted(), Interrupted);
    EXPECT_EQ(asked, 2) << "not asked again";
  }
  EXPECT_NO_THROW(check_interrupted());
}

TEST(Interrupt, IsAskedAtMostOnceEveryInterval) {
  int asked = 0;
  const InterruptScope scope([&] { return ++asked, false; }, 20ms);
  const auto begin = std::chrono::steady_clock::now();
  while (asked < 5) check_interrupted();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
}

TEST(Interrupt, EachOfNestedScopesInterrupts) {
  bool outer_says = false, inner_says = false;
  const InterruptScope outer([&] { return outer_says; }, 0ms);
  {
    const InterruptScope inner([&] { return inner_says; }, 0ms);
    inner_says = true;
    EXPECT_THROW(check_interrupted(), Interrupted);
  }
  EXPECT_NO_THROW(check_interrupted()) << "the inner scope has ended";
  const InterruptScope inner([] { return false; }, 0ms);
  outer_says = true;
  EXPECT_THROW(check_interrupted(), Interrupted);
  EXPECT_TRUE(outer.interrupted());
  EXPECT_FALSE(inner.interrupted());
}

TEST(Interrupt, DoesNotConcernOtherThreads) {
  const InterruptScope scope([] { return true; }, 0ms);
  std::thread([] { EXPECT_NO_THROW(check_interrupted()); }).join();
}

/// Every chunk runs until it is interrupted, those on other threads too. The calling thread, which
/// alone is asked, has none when it waits for the others.
TEST(Interrupt, ReachesTheChunksOfAllThreads) {
  Executor executor(3);
  const ExecutorScope on(executor);
  const std::thread::id caller = std::this_thread::get_id();
  std::set<std::thread::id> asked;
  const auto begin = std::chrono::steady_clock::now();
  const InterruptScope scope(
      [&] {
        asked.insert(std::this_thread::get_id());
        return std::chrono::steady_clock::now() - begin > 100ms;
      },
      1ms);
  std::atomic<int> stopped = 0;
  const auto work = [&](int64_t, int64_t) {
    if (std::this_thread::get_id() == caller) return;
    try {
      for (;;) check_interrupted();
    } catch (const Interrupted&) {
      ++stopped;
      throw;
    }
  };
  // Until a worker has taken a chunk; the caller may have been faster.
  while (stopped == 0 && !scope.interrupted()) {
    try {
      parallel_in_order(64, 1, work);
    } catch (const Interrupted&) {
    }
  }
  EXPECT_GT(stopped, 0);
  EXPECT_EQ(asked, std::set{caller});
}

/// The chunks of a worker last until the calling thread, which alone is asked, has been asked.
TEST(Interrupt, NoFurtherChunkStarts) {
  Executor executor(2);
  const ExecutorScope on(executor);
  const InterruptScope scope([] { return true; }, 0ms);
  std::atomic<int> started = 0;
  const auto work = [&](int64_t, int64_t) {
    ++started;
    while (!scope.interrupted()) std::this_thread::yield();
  };
  EXPECT_THROW(parallel_in_order(1000, 1, work), Interrupted);
  EXPECT_LE(started, 1) << "the one of the worker that began before the calling thread was asked";
}

}  // namespace
}  // namespace heed
