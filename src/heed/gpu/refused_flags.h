#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <unordered_map>

#include "heed/base/mutex.h"

namespace heed::gpu {

/// A flag of each thread, in memory of the host that kernels can write: see Gpu::refused_flag().
class RefusedFlags {
 public:
  /// This thread's. allocate(bytes): memory for a new one.
  template <typename Allocate>
  uint32_t* get(const Allocate& allocate) {
    const MutexLock lock(mutex_);
    std::shared_ptr<std::byte>& flag = flags_[std::this_thread::get_id()];
    if (!flag) {
      flag = allocate(sizeof(uint32_t));
      *value(flag) = 0;
    }
    return value(flag);
  }
  /// Whether this thread's was set; clears it.
  bool take() {
    const MutexLock lock(mutex_);
    const auto found = flags_.find(std::this_thread::get_id());
    return found != flags_.end() && std::atomic_ref(*value(found->second)).exchange(0) != 0;
  }
  /// Frees their memory.
  void clear() {
    const MutexLock lock(mutex_);
    flags_.clear();
  }

 private:
  static uint32_t* value(const std::shared_ptr<std::byte>& flag) {
    return reinterpret_cast<uint32_t*>(flag.get());
  }

  Mutex mutex_;
  std::unordered_map<std::thread::id, std::shared_ptr<std::byte>> flags_ HEED_GUARDED_BY(mutex_);
};

}  // namespace heed::gpu
