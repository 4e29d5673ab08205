#pragma once

#include "heed/base/parallel.h"

namespace heed {

/// While one exists, its thread computes with that many threads.
class Threads {
 public:
  explicit Threads(int count) : executor_(count) {}

 private:
  Executor executor_;
  const ExecutorScope scope_{executor_};
};

}  // namespace heed
