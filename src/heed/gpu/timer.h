#pragma once

#include "heed/gpu/gpu.h"

namespace heed::gpu {

/// Measures how long a GPU works between two points of its stream, on the GPU's own clock.
class Timer {
 public:
  explicit Timer(Gpu& gpu);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void start();
  void stop();

  /// From start() to stop(), which it waits for.
  double seconds();

 private:
  void record(Driver::Handle event);

  Gpu& gpu_;
  Driver::Handle start_ = nullptr, stop_ = nullptr;
};

}  // namespace heed::gpu
