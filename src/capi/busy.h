#pragma once

#include <mutex>

#include "capi/call.h"

namespace heed::capi {

/// Locks what one thread uses at a time. Throws StatusError when another thread does.
template <typename Mutex>
std::unique_lock<Mutex> lock_or_busy(Mutex& mutex, const char* name) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock)
    throw StatusError(HEED_ERROR_BUSY, fmt::format("the {} is used by another thread", name));
  return lock;
}

}  // namespace heed::capi
