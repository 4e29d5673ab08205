#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/serve/call.h"

namespace heed::serve {

/// Threads that parse JSON, render chat templates and tokenize. Requests with long bodies have a
/// queue and a thread of their own, which takes the shortest first, so that short requests never
/// wait for long ones. May be used by any thread.
class PreprocessingPool {
 public:
  PreprocessingPool();
  ~PreprocessingPool() { stop(); }
  PreprocessingPool(const PreprocessingPool&) = delete;
  PreprocessingPool& operator=(const PreprocessingPool&) = delete;

  /// Calls `task` on a thread, unless the call is cancelled by then. An exception of it becomes the
  /// response of the call. check_interrupted() ends the task when the call is cancelled, when its
  /// deadline has passed, and when the pool is stopped.
  void post(std::shared_ptr<Call> call, std::function<void()> task);

  /// The number of requests with long bodies that wait.
  int64_t waiting_long() const;

  /// Interrupts the tasks that run, drops those that wait, and joins the threads.
  void stop();

  /// The size of a body, in bytes, from which on it is long.
  static constexpr size_t kLongBody = size_t{64} << 10;
  static bool is_long(const Call& call) { return call.request().body.size() >= kLongBody; }

 private:
  struct Work {
    std::shared_ptr<Call> call;
    std::function<void()> task;
  };
  struct Queue {
    mutable Mutex mutex;
    ConditionVariable posted;
    /// Lower keys first; of equal keys, the oldest first.
    std::multimap<size_t, Work> waiting HEED_GUARDED_BY(mutex);
    std::vector<std::thread> threads;
  };

  void loop(Queue& queue);
  void run(const Work& work);

  std::atomic<bool> ended_ = false;
  Queue short_, long_;
};

}  // namespace heed::serve
