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

/// Alignment of data that different threads write, to avoid false sharing.
constexpr size_t kCacheLine = 64;

/// A pool of worker threads. Operators follow each other within microseconds, so idle workers spin
/// for a while before they sleep, and starting a job takes no lock while no worker sleeps.
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
    distribute(count / grain + (count % grain ? 1 : 0));
    gate_.fetch_and(~kClosed, std::memory_order_release);
    announce();
    take_chunks(0);
    gate_.fetch_or(kClosed, std::memory_order_relaxed);
    wait_for_workers();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr int kSpins = 20000;
  static constexpr int kClosed = 1 << 30;

  /// Publishes a new job. A worker that is about to sleep either sees the new generation or is
  /// already counted in sleepers_. Taking the lock in the second case waits until it can be woken.
  void announce() {
    job_.generation.fetch_add(1);
    if (sleepers_.load() == 0) return;
    { std::lock_guard lock(mutex_); }
    wake_.notify_all();
  }

  void sleep(uint64_t seen) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    wake_.wait(lock, [&] { return job_.generation.load() != seen; });
    sleepers_.fetch_sub(1);
  }

  void stop() {
    stopping_ = true;
    announce();
    for (auto& worker : workers_) worker.join();
  }

  /// Yields after spinning: a worker may be waiting for a processor when other processes run or
  /// there are more threads than processors.
  void wait_for_workers() {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (gate_.load(std::memory_order_acquire) == kClosed) return;
      pause();
    }
    while (gate_.load(std::memory_order_acquire) != kClosed) std::this_thread::yield();
  }

  /// Assigns each thread a contiguous range of chunks, so that neighbouring memory is read by one
  /// thread, and by the same thread in the next job.
  void distribute(int64_t chunks) {
    const auto threads = static_cast<int64_t>(shares_.size());
    int64_t chunk = 0;
    for (int64_t i = 0; i < threads; ++i) {
      Share& share = shares_[static_cast<size_t>(i)];
      share.next.store(chunk, std::memory_order_relaxed);
      chunk += chunks / threads + (i < chunks % threads ? 1 : 0);
      share.end = chunk;
    }
  }

  /// Runs the thread's own share first, then steals what is left of the others.
  void take_chunks(size_t own) {
    inside_parallel_for = true;
    for (size_t i = 0; i < shares_.size(); ++i) take_share(shares_[(own + i) % shares_.size()]);
    inside_parallel_for = false;
  }

  struct Share;
  void take_share(Share& share) {
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= share.end) break;
      const int64_t begin = chunk * job_.grain;
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
      for (int spin = 0; spin < kSpins && job_.generation.load(std::memory_order_acquire) == seen;
           ++spin)
        pause();
      if (job_.generation.load(std::memory_order_acquire) == seen) sleep(seen);
      // The generation must be read before stopping_. In the other order a worker could mistake the
      // generation of a stop for that of a job and wait forever for the next one.
      seen = job_.generation.load(std::memory_order_acquire);
      if (stopping_) return;
      if ((gate_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) take_chunks(own);
      gate_.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Workers wait for `generation` to change. They read the other members only while inside the
  /// gate, and run() writes them only while no worker is inside.
  struct alignas(kCacheLine) Job {
    std::atomic<uint64_t> generation{0};
    const ParallelBody* body = nullptr;
    int64_t count = 0, grain = 1;
  };
  Job job_;
  /// Chunks [next, end) of the job that no thread has taken yet.
  struct alignas(kCacheLine) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::vector<Share> shares_;  // one per thread; the calling thread's is first
  /// The number of workers inside the current job, plus kClosed once all its chunks are taken. A
  /// worker that arrives at a closed gate leaves again, so run() never waits for a worker that the
  /// system has not scheduled.
  alignas(kCacheLine) std::atomic<int> gate_{kClosed};
  alignas(kCacheLine) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;  // last: the threads use all other members
};

/// Hands out the integers [0, count) in order until a body throws.
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

  /// Integers are handed out in order, so the lowest one that throws has always been started: the
  /// exception does not depend on the number of threads.
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
/// Not a member of the pool: a body may call thread_count() while the pool is locked for its job.
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

void run_chunks(int64_t count, int64_t grain, ParallelBody body) {
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
    queue.work([&](int64_t chunk) {
      const int64_t begin = chunk * grain;
      body(begin, begin + std::min(grain, count - begin));
    });
  };
  run_chunks(thread_count(), 1, ParallelBody(work));
  queue.rethrow();
}

}  // namespace heed
