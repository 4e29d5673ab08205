#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/base/parallel_body.h"

namespace heed {

class Executor;
class ThreadPool;

/// The threads of an Executor.
ThreadPool& pool_of(const Executor& executor);

/// While one exists, its thread is inside the body of a parallel_for.
class InsideBody {
 public:
  InsideBody() : before_(inside_) { inside_ = true; }
  ~InsideBody() { inside_ = before_; }
  InsideBody(const InsideBody&) = delete;
  InsideBody& operator=(const InsideBody&) = delete;

  /// Whether the calling thread is inside a body.
  static bool here() { return inside_; }

 private:
  static inline constinit thread_local bool inside_ = false;

  const bool before_;
};

/// A pool of worker threads, which runs one job at a time. Operators follow each other within
/// microseconds, so idle workers spin for a while before they sleep, and starting a job waits for
/// no lock while no worker sleeps.
class ThreadPool {  // NOLINT: padding separates what different threads write
 public:
  /// `threads` includes the thread that calls try_run(). The others start with the first job.
  explicit ThreadPool(int threads) : shares_(static_cast<size_t>(threads)) {}
  /// No job may be running.
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(shares_.size()); }

  /// Runs the job of a parallel_for on all threads. Does nothing and returns false if there is only
  /// one, or while the job of another caller runs. Rethrows the first exception of a body once all
  /// threads have finished. Throws Error if the threads cannot be started. Thread-safe.
  bool try_run(int64_t count, int64_t grain, const ParallelBody& body);

  /// In a forked child, which lacks the workers: forgets them and the job that they may have been
  /// running. The next job starts new ones.
  void restart_after_fork();

 private:
  struct Share;

  void start();
  void stop();
  void run(int64_t count, int64_t grain, const ParallelBody& body);
  void announce();
  void sleep(uint64_t seen);
  void wait_for_workers();
  void distribute(int64_t chunks);
  void take_chunks(size_t own);
  void take_share(Share& share);
  void work(size_t own);

  /// Alignment of data that different threads write, to avoid false sharing.
  static constexpr size_t kCacheLine = 64;
  static constexpr int kClosed = 1 << 30;

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
  Mutex mutex_;
  ConditionVariable wake_;
  /// Of the first body that threw. Workers lock the mutex to set it; run() reads it without, once
  /// no worker is inside the gate.
  std::exception_ptr error_;
  std::atomic<bool> busy_{false};     // while a caller's job runs
  std::vector<std::thread> workers_;  // last: the threads use all other members
};

}  // namespace heed
