#pragma once

#include <cstdint>
#include <string>

#include "heed/train/events.h"

namespace heed::train {

/// Shows the progress of a run on standard error: on a terminal one line that is overwritten,
/// otherwise a new line every 15 seconds.
class Progress {
 public:
  Progress();

  /// `planned_steps` is 0 if not known yet. Shown only if the last line is old enough.
  void show(const StepRecord& record, int64_t planned_steps, double seconds_left);
  /// Prints a line that is not overwritten.
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
