#pragma once

#include <algorithm>
#include <chrono>

namespace heed::serve {

/// How long steps may compute in vain for calls that go on, because they were interrupted for calls
/// that were cancelled: at most kShare of the time in the long run, however many are cancelled.
class PreemptionBudget {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double kShare = 0.2;
  static constexpr std::chrono::milliseconds kMost{200};

  /// Whether a step may be interrupted.
  bool allows() const { return left_ > Clock::duration::zero(); }
  /// To be called before each step.
  void refill(Clock::time_point now = Clock::now()) {
    const auto earned = std::chrono::duration<double>(now - refilled_) * kShare;
    left_ = std::min<Clock::duration>(kMost,
                                      left_ + std::chrono::duration_cast<Clock::duration>(earned));
    refilled_ = now;
  }
  /// A step was interrupted after so long.
  void spend(Clock::duration time) { left_ -= time; }

 private:
  Clock::duration left_ = kMost;
  Clock::time_point refilled_ = Clock::now();
};

}  // namespace heed::serve
