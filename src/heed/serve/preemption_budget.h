#pragma once

#include <algorithm>
#include <chrono>

namespace heed::serve {

/// Limits the time that is lost when a step is interrupted because one of its calls was cancelled:
/// the tokens of the other calls have to be computed again. In the long run at most kShare of the
/// time is lost, however many calls are cancelled.
class PreemptionBudget {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double kShare = 0.2;
  static constexpr std::chrono::milliseconds kMost{200};

  /// Whether a step may be interrupted.
  bool allows() const { return left_ > Clock::duration::zero(); }
  /// Adds what was earned since the last step. To be called before each step.
  void refill(Clock::time_point now = Clock::now()) {
    const auto earned = std::chrono::duration<double>(now - refilled_) * kShare;
    left_ = std::min<Clock::duration>(kMost,
                                      left_ + std::chrono::duration_cast<Clock::duration>(earned));
    refilled_ = now;
  }
  /// Subtracts the time of a step that was interrupted.
  void spend(Clock::duration time) { left_ -= time; }

 private:
  Clock::duration left_ = kMost;
  Clock::time_point refilled_ = Clock::now();
};

}  // namespace heed::serve
