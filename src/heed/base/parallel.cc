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
  explicit Pool(int threads) : shares_(static_cast<size_t>(threads)) {
    try {
      for (size_t i = 1; i < shares_.size(); ++i) workers_.emplace_back([this, i] { work(i); });
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
    deal(count / grain + (count % grain ? 1 : 0));
    gate_.fetch_and(~kClosed, std::memory_order_release);
    announce();
    take_pieces(0);
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
    for (int spin = 0; spin < kSpins; ++spin) {
      if (gate_.load(std::memory_order_acquire) == kClosed) return;
      pause();
    }
    while (gate_.load(std::memory_order_acquire) != kClosed) std::this_thread::yield();
  }

  /// Gives every thread a share of the pieces, neighbours to one: what lies side by side in memory
  /// is read by one thread, and by the same one in the next job.
  void deal(int64_t pieces) {
    const auto threads = static_cast<int64_t>(shares_.size());
    int64_t piece = 0;
    for (int64_t i = 0; i < threads; ++i) {
      Share& share = shares_[static_cast<size_t>(i)];
      share.next.store(piece, std::memory_order_relaxed);
      piece += pieces / threads + (i < pieces % threads ? 1 : 0);
      share.end = piece;
    }
  }

  /// First a thread's own share, then what is left of the others'.
  void take_pieces(size_t own) {
    inside_parallel_for = true;
    for (size_t i = 0; i < shares_.size(); ++i) take_share(shares_[(own + i) % shares_.size()]);
    inside_parallel_for = false;
  }

  struct Share;
  void take_share(Share& share) {
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= share.end) break;
      const int64_t begin = piece * job_.grain;
      try {
        (*job_.body)(begin, begin + std::min(job_.grain, job_.count - begin));
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        for (Share& rest : shares_) rest.next.store(rest.end, std::memory_order_relaxed);
      }
    }
  }

  void work(size_t own) {
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < kSpins && job_.number.load(std::memory_order_acquire) == seen;
           ++spin)
        pause();
      if (job_.number.load(std::memory_order_acquire) == seen) sleep(seen);
      // In this order: who looked at `stopping_` first could take a stop's number for a job's, and
      // would never see another.
      seen = job_.number.load(std::memory_order_acquire);
      if (stopping_) return;
      if ((gate_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) take_pieces(own);
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
  /// Pieces [next, end) of the job that nobody has taken.
  struct alignas(kOwnLine) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::vector<Share> shares_;  // of each thread, the calling one's first
  /// The number of workers inside the current job. Once all its pieces are taken it is closed: who
  /// comes late turns back, and nobody waits for a worker that the system has not let run.
  alignas(kOwnLine) std::atomic<int> gate_{kClosed};
  alignas(kOwnLine) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;  // last: they find all the others
};

/// Hands out numbers in their order, until one fails.
class Queue {
 public:
  explicit Queue(int64_t count) : count_(count), failed_(count) {}

  template <typename Body>
  void work(const Body& body) {
    for (int64_t i = next_.fetch_add(1); i < count_; i = next_.fetch_add(1)) {
      try {
        body(i);
      } catch (...) {
        fail_at(i);
      }
    }
  }

  /// All numbers below the lowest that fails were handed out before it: so it is always found.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void fail_at(int64_t i) {
    next_.store(count_);
    std::lock_guard lock(mutex_);
    if (i >= failed_) return;
    failed_ = i;
    error_ = std::current_exception();
  }

  const int64_t count_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  int64_t failed_;
  std::exception_ptr error_;
};

std::mutex pool_mutex;
std::unique_ptr<Pool> pool;
/// Beside the pool, since a body may ask while the pool is locked for its job.
std::atomic<int> wanted_threads{0};

}  // namespace

int thread_count() {
  if (inside_parallel_for) return 1;
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
  if (count <= grain || thread_count() == 1) {
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

void run_in_order(int64_t count, int64_t grain, ParallelBody body) {
  grain = std::max<int64_t>(grain, 1);
  Queue queue(count / grain + (count % grain ? 1 : 0));
  const auto work = [&](int64_t, int64_t) {
    queue.work([&](int64_t piece) {
      const int64_t begin = piece * grain;
      body(begin, begin + std::min(grain, count - begin));
    });
  };
  run_pieces(thread_count(), 1, ParallelBody(work));
  queue.rethrow();
}

}  // namespace heed
