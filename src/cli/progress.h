#pragma once

#include "heed/train/observer.h"

namespace heed::cli {

/// Shows the progress of a run on standard error: its lines, and of the steps, on a terminal one
/// line that is overwritten, otherwise a new line every 15 seconds.
class Progress : public train::Observer {
 public:
  Progress();

  void log(const std::string& line) override;
  void step(const train::StepRecord& record, int64_t planned_steps, double seconds_left) override;

 private:
  void clear();

  bool terminal_;
  bool line_open_ = false;
  double last_shown_ = -1e9;
};

}  // namespace heed::cli
