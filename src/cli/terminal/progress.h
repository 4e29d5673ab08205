#pragma once

#include <string_view>

#include "cli/terminal/status_line.h"
#include "heed/train.h"

namespace heed::cli {

/// Shows the progress of a run on standard error: its lines, and of the steps a StatusLine.
class Progress {
 public:
  void log(std::string_view line);
  void step(const StepRecord& record, int64_t planned_steps, double seconds_left);

 private:
  StatusLine line_;
};

}  // namespace heed::cli
