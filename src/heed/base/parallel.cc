#include "heed/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

thread_local bool inside_parallel_for = false;

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// What two threads write lies this far apart, so that neither takes the other's line of the cache.
constexpr size_t kOwnLine = 64;

/// Workers that spin for a while between jobs, since operators follow each other within
/// microseconds, and sleep when nothing comes. A job costs as little as its pieces allow: nobody
/// locks while nobody sleeps.
class Pool {
 public:
  explicit Pool(int threads) {
    try {
      for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
    } catch (const std::system_error& error) {
      const size_t started = workers_.size();
      stop();
      fail("only {} of {} threads could be started: {}", started + 1, threads,
           error.code().message());
    }
  }

  ~Pool() { stop(); }

  void run(int64_t count, int64_t grain, const ParallelBody& body) {
    job_.body = &body;
    job_.count = count;
    job_.grain = grain;
    error_ = nullptr;
    next_.store(0, std::memory_order_relaxed);
    gate_.fetch_and(~kClosed, std::memory_order_release);
    announce();
    take_pieces();
    gate_.fetch_or(kClosed, std::memory_order_relaxed);
    wait_for_workers();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr int kSpins = 20000;
  static constexpr int kClosed = 1 << 30;

  /// Either a worker that is about to sleep sees the new number, or it is seen here; once the lock
  /// was had, it waits and can be woken.
  void announce() {
    job_.number.fetch_add(1);
    if (sleepers_.load() == 0) return;
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }

  void sleep(uint64_t seen) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return job_.number.load() != seen; });
    sleepers_.fetch_sub(1);
  }

  void stop() {
    stopping_ = true;
    announce();
    for (auto& worker : workers_) worker.join();
  }

  /// Other processes, or more threads than processors, may keep a worker from its piece: after a
  /// while the processor is left to them.
  void wait_for_workers() {
    for (int spin = 0; gate_.load(std::memory_order_acquire) != kClosed; ++spin)
      if (spin < kSpins)
        pause();
      else
        std::this_thread::yield();
  }

  void take_pieces() {
    inside_parallel_for = true;
    for (;;) {
      const int64_t begin = next_.fetch_add(job_.grain, std::memory_order_relaxed);
      if (begin >= job_.count) break;
      try {
        (*job_.body)(begin, begin + std::min(job_.grain, job_.count - begin));
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_.store(job_.count, std::memory_order_relaxed);
      }
    }
    inside_parallel_for = false;
  }

  void work() {
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && job_.number.load(std::memory_order_acquire) == seen;
           ++spin)
        pause();
      if (job_.number.load(std::memory_order_acquire) == seen) sleep(seen);
      if (stopping_) return;
      seen = job_.number.load(std::memory_order_acquire);
      if ((gate_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) take_pieces();
      gate_.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Workers wait for the number to change. They read the rest inside the gate alone, and it is
  /// written while nobody is there.
  struct alignas(kOwnLine) Job {
    std::atomic<uint64_t> number{0};
    const ParallelBody* body = nullptr;
    int64_t count = 0, grain = 1;
  };
  Job job_;
  /// The number of workers inside the current job. Once all its pieces are taken it is closed: who
  /// comes late turns back, and nobody waits for a worker that the system has not let run.
  alignas(kOwnLine) std::atomic<int> gate_{kClosed};
  std::atomic<int64_t> next_{0};
  alignas(kOwnLine) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;  // last: they find all the others
};

std::mutex pool_mutex;
std::unique_ptr<Pool> pool;
/// Beside the pool, since a body may ask while the pool is locked for its job.
std::atomic<int> wanted_threads{0};

}  // namespace

int thread_count() {
  static const int available = available_processors();
  const int count = wanted_threads;
  return count ? count : available;
}

void set_thread_count(int count) {
  require(count >= 1 && count <= 1024, "threads is {}, expected 1 to 1024", count);
  std::lock_guard lock(pool_mutex);
  pool = std::make_unique<Pool>(count);
  wanted_threads = count;
}

void run_pieces(int64_t count, int64_t grain, ParallelBody body) {
  grain = std::max<int64_t>(grain, 1);
  if (inside_parallel_for || count <= grain || thread_count() == 1) {
    for (int64_t begin = 0; begin < count;) {
      const int64_t end = begin + std::min(grain, count - begin);
      body(begin, end);
      begin = end;
    }
    return;
  }
  std::lock_guard lock(pool_mutex);
  if (!pool) pool = std::make_unique<Pool>(thread_count());
  pool->run(count, grain, body);
}

}  // namespace heed
