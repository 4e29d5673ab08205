#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "heed/base/mutex.h"

namespace heed::serve {

/// Work that takes turns with others on the compute thread.
class Workload {
 public:
  virtual ~Workload() = default;
  /// Does a small part of its work: some milliseconds. Returns whether more is left. Must not
  /// throw.
  virtual bool work() = 0;
  /// Drops what is left: the loop ends. Must not throw.
  virtual void drop() = 0;
};

/// The thread on which all models compute: one after the other, a small part each. Each part uses
/// all threads of the models' Executor, so that models do not compete for the processors.
class ComputeLoop {
 public:
  ComputeLoop();
  /// Ends the thread; what was posted and has not run is dropped, and what workloads have left.
  ~ComputeLoop();

  /// Runs `function`, which must not throw, between two parts of the work. May be called by any
  /// thread.
  void post(std::function<void()> function);

  /// For how long the thread has been at the same part of the work; 0 if there is none. May be
  /// called by any thread.
  std::chrono::milliseconds busy_for() const;

  // On the compute thread:

  /// Lets a workload take turns, unless it does.
  void add(const std::shared_ptr<Workload>& workload);
  void remove(const Workload& workload);

 private:
  using Clock = std::chrono::steady_clock;
  void loop();
  void begin_part() { part_began_ = Clock::now().time_since_epoch().count(); }

  Mutex mutex_;
  ConditionVariable posted_;
  std::vector<std::function<void()>> tasks_ HEED_GUARDED_BY(mutex_);
  bool ended_ HEED_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<Workload>> workloads_;  // of the compute thread
  std::atomic<Clock::rep> part_began_ = 0;            // 0: there is no work
  std::thread thread_;
};

}  // namespace heed::serve
