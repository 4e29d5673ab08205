#include "heed/base/thread_pool.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/system.h"

namespace heed {
namespace {

constexpr int kSpins = 20000;

/// Clears the flag that its maker has set.
class Release {
 public:
  explicit Release(std::atomic<bool>& flag) : flag_(flag) {}
  ~Release() { flag_.store(false, std::memory_order_release); }
  Release(const Release&) = delete;
  Release& operator=(const Release&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

bool ThreadPool::try_run(int64_t count, int64_t grain, const ParallelBody& body) {
  if (threads() == 1) return false;
  if (busy_.exchange(true, std::memory_order_acquire)) return false;
  const Release release(busy_);
  if (workers_.empty()) start();
  run(count, grain, body);
  return true;
}

/// What the missing threads held or waited for cannot be destroyed: the objects are made anew in
/// their place.
void ThreadPool::restart_after_fork() {
  new (&workers_) std::vector<std::thread>();
  new (&mutex_) Mutex();
  new (&wake_) ConditionVariable();
  gate_ = kClosed;
  sleepers_ = 0;
  error_ = nullptr;
  busy_ = false;
}

void ThreadPool::start() {
  try {
    for (size_t i = 1; i < shares_.size(); ++i) workers_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& error) {
    const size_t started = workers_.size();
    stop();
    workers_.clear();
    stopping_ = false;
    fail("only {} of {} threads could be started: {}", started + 1, threads(),
         error.code().message());
  }
}

void ThreadPool::stop() {
  stopping_ = true;
  announce();
  for (auto& worker : workers_) worker.join();
}

void ThreadPool::run(int64_t count, int64_t grain, const ParallelBody& body) {
  job_.body = &body;
  job_.count = count;
  job_.grain = grain;
  distribute(count / grain + (count % grain ? 1 : 0));
  gate_.fetch_and(~kClosed, std::memory_order_release);
  announce();
  take_chunks(0);
  gate_.fetch_or(kClosed, std::memory_order_relaxed);
  wait_for_workers();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

/// Publishes a new job. A worker that is about to sleep either sees the new generation or is
/// already counted in sleepers_. Taking the lock in the second case waits until it can be woken.
void ThreadPool::announce() {
  job_.generation.fetch_add(1);
  if (sleepers_.load() == 0) return;
  { const MutexLock lock(mutex_); }
  wake_.notify_all();
}

void ThreadPool::sleep(uint64_t seen) {
  MutexLock lock(mutex_);
  sleepers_.fetch_add(1);
  while (job_.generation.load() == seen) wake_.wait(lock);
  sleepers_.fetch_sub(1);
}

/// Yields after spinning: a worker may be waiting for a processor when other processes run or there
/// are more threads than processors.
void ThreadPool::wait_for_workers() {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (gate_.load(std::memory_order_acquire) == kClosed) return;
    pause_spinning();
  }
  while (gate_.load(std::memory_order_acquire) != kClosed) {
    ask_interrupted();
    std::this_thread::yield();
  }
}

/// Assigns each thread a contiguous range of chunks, so that neighbouring memory is read by one
/// thread, and by the same thread in the next job.
void ThreadPool::distribute(int64_t chunks) {
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
void ThreadPool::take_chunks(size_t own) {
  const InsideBody inside;
  for (size_t i = 0; i < shares_.size(); ++i) take_share(shares_[(own + i) % shares_.size()]);
}

void ThreadPool::take_share(Share& share) {
  while (share.next.load(std::memory_order_relaxed) < share.end) {
    const int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= share.end) break;
    const int64_t begin = chunk * job_.grain;
    try {
      (*job_.body)(begin, begin + std::min(job_.grain, job_.count - begin));
    } catch (...) {
      const MutexLock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      for (Share& rest : shares_) rest.next.store(rest.end, std::memory_order_relaxed);
    }
  }
}

void ThreadPool::work(size_t own) {
  uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && job_.generation.load(std::memory_order_acquire) == seen;
         ++spin)
      pause_spinning();
    if (job_.generation.load(std::memory_order_acquire) == seen) sleep(seen);
    // The generation must be read before stopping_. In the other order a worker could mistake the
    // generation of a stop for that of a job and wait forever for the next one.
    seen = job_.generation.load(std::memory_order_acquire);
    if (stopping_) return;
    if ((gate_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) take_chunks(own);
    gate_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace heed
