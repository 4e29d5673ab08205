#pragma once

#include <cstdint>

#include "heed/base/mutex.h"
#include "heed/server_limits.h"

namespace heed::serve {

/// Counts the requests and tokens that wait, and refuses what exceeds the limits. May be used by
/// any thread.
class Admission {
 public:
  explicit Admission(const QueueLimits& limits) : limits_(limits) {}

  /// Throws ApiError 429 if no further request may wait beside those counted here and `others`.
  /// Called before the body of a request is read.
  void check_room(int64_t others = 0) const;
  /// Adds a request with its tokens. Throws ApiError: 400 if it could never be admitted, 429 if too
  /// much waits already.
  void enter(int64_t tokens);
  /// Subtracts requests and tokens that wait no longer.
  void leave(int64_t requests, int64_t tokens);

  int64_t requests() const;
  int64_t tokens() const;

 private:
  const QueueLimits limits_;
  mutable Mutex mutex_;
  int64_t requests_ HEED_GUARDED_BY(mutex_) = 0;
  int64_t tokens_ HEED_GUARDED_BY(mutex_) = 0;
};

}  // namespace heed::serve
