#include "cli/commands/watchdog.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "cli/commands/service_manager.h"
#include "heed/base/parse_number.h"

namespace heed::cli {
namespace {

int64_t number_of_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text ? parse_number<int64_t>(text).value_or(0) : 0;
}

/// 0: nobody watches this process.
std::chrono::microseconds allowed_time() {
  const int64_t process = number_of_environment("WATCHDOG_PID");
  if (process != 0 && process != getpid()) return {};
  return std::chrono::microseconds(number_of_environment("WATCHDOG_USEC"));
}

}  // namespace

Watchdog::Watchdog(std::function<std::chrono::milliseconds()> busy_for)
    : busy_for_(std::move(busy_for)) {
  if (const auto allowed = allowed_time(); allowed.count() > 0)
    thread_ = std::thread([this, allowed] { run(allowed); });
}

Watchdog::~Watchdog() {
  {
    const MutexLock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::run(std::chrono::microseconds allowed) {
  MutexLock lock(mutex_);
  while (!ended_) {
    if (busy_for_() < allowed / 2) notify_service_manager("WATCHDOG=1");
    changed_.wait_until(lock, std::chrono::steady_clock::now() + allowed / 4);
  }
}

}  // namespace heed::cli
