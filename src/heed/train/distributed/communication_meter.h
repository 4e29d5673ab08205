#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "heed/distribute/group.h"
#include "heed/train/observer.h"

namespace heed::train {

/// Measures how long a rank computes and communicates in a step.
class CommunicationMeter {
 public:
  /// The group must outlive this.
  explicit CommunicationMeter(const distribute::Group& group) : group_(group) {}

  /// To be called before and after the passes of a step.
  void begin_passes();
  void end_passes();

  static constexpr size_t kFigures = 4;
  /// This rank's figures since the last call, for communication_of().
  std::vector<double> take();

 private:
  using Clock = std::chrono::steady_clock;

  const distribute::Group& group_;
  distribute::Group::Traffic last_;  // at the last take()
  Clock::time_point begin_;
  double blocked_before_ = 0;  // the passes
  double computing_ = 0;
};

/// `figures` are those of each rank.
StepCommunication communication_of(std::span<const std::vector<double>> figures);

}  // namespace heed::train
