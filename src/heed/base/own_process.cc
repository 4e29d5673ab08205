#include "heed/base/own_process.h"

#include <pthread.h>

#include <atomic>

namespace heed {
namespace {

std::atomic<int> generation{0};

}  // namespace

OwnProcess::OwnProcess() {
  [[maybe_unused]] static const int counts = ::pthread_atfork(
      nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  generation_ = generation.load(std::memory_order_relaxed);
}

bool OwnProcess::is_forked() const {
  return generation.load(std::memory_order_relaxed) != generation_;
}

}  // namespace heed
