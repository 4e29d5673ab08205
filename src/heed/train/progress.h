#pragma once

#include <cstdint>
#include <string>

#include "heed/train/events.h"

namespace heed::train {

/// Shows how a run is doing on standard error: one line that renews itself on a terminal, a plain
/// line now and then otherwise.
class Progress {
 public:
  Progress();

  /// `planned_steps` 0: not known yet.
  void show(const StepRecord& record, int64_t planned_steps, double seconds_left);
  /// A line that stays.
  void log(const std::string& line);

 private:
  void clear();

  bool terminal_;
  bool line_open_ = false;
  double last_shown_ = -1e9;
};

/// "1:02:03" or "4:05".
std::string duration_text(double seconds);

}  // namespace heed::train
