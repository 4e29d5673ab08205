#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

/// Clang's annotations of what a thread must hold, which scripts/check_thread_safety checks
/// (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html). Other compilers see nothing of them.
#if defined(__clang__)
#define HEED_THREAD_ANNOTATION(annotation) __attribute__((annotation))
#else
#define HEED_THREAD_ANNOTATION(annotation)
#endif
/// Of a member that is read and written with this mutex locked.
#define HEED_GUARDED_BY(mutex) HEED_THREAD_ANNOTATION(guarded_by(mutex))
/// Of a function that is called with this mutex locked.
#define HEED_REQUIRES(mutex) HEED_THREAD_ANNOTATION(requires_capability(mutex))
#define HEED_ACQUIRE(...) HEED_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define HEED_RELEASE() HEED_THREAD_ANNOTATION(release_capability())

namespace heed {

/// A std::mutex that the annotations can name.
class HEED_THREAD_ANNOTATION(capability("mutex")) Mutex {
 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// A std::unique_lock of a Mutex.
class HEED_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEED_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() HEED_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() HEED_ACQUIRE() { lock_.lock(); }
  void unlock() HEED_RELEASE() { lock_.unlock(); }

 private:
  friend class ConditionVariable;
  std::unique_lock<std::mutex> lock_;
};

/// A std::condition_variable that waits with a MutexLock. It may wake without reason, so its
/// callers wait in a loop. (The analysis does not see which mutex the body of a predicate is called
/// with.)
class ConditionVariable {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }
  void wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  /// Returns whether it was woken by then.
  bool wait_until(MutexLock& lock, std::chrono::steady_clock::time_point time) {
    return condition_.wait_until(lock.lock_, time) == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable condition_;
};

}  // namespace heed
