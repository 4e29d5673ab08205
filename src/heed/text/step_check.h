#pragma once

#include <cstddef>

#include "heed/base/interrupt.h"

namespace heed::text {

/// Looks every few thousand steps whether the call was interrupted, so that a long text does not
/// keep a thread that is asked to stop.
class StepCheck {
 public:
  void step() { steps(1); }
  void steps(size_t count) {
    constexpr size_t kStepsPerCheck = 4096;
    count_ += count;
    if (count_ < kStepsPerCheck) return;
    count_ = 0;
    check_interrupted();
  }

 private:
  size_t count_ = 0;
};

}  // namespace heed::text
