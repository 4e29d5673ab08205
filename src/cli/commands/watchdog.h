#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "heed/base/mutex.h"

namespace heed::cli {

/// Tells systemd that the server works (WatchdogSec= of its unit, sd_watchdog_enabled(3)), as long
/// as it does. Nothing if nobody wants to know.
class Watchdog {
 public:
  /// `busy_for` says for how long the server has been at the same part of its work: from half of
  /// the time that systemd allows on, it gets stuck in it. Called on a thread of its own until this
  /// is destroyed.
  explicit Watchdog(std::function<std::chrono::milliseconds()> busy_for);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void run(std::chrono::microseconds allowed);

  const std::function<std::chrono::milliseconds()> busy_for_;
  Mutex mutex_;
  ConditionVariable changed_;
  bool ended_ HEED_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace heed::cli
