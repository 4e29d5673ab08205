#pragma once

#include "cli/status_line.h"
#include "heed/train/observer.h"

namespace heed::cli {

/// Shows the progress of a run on standard error: its lines, and of the steps a StatusLine.
class Progress : public train::Observer {
 public:
  void log(const std::string& line) override;
  void step(const train::StepRecord& record, int64_t planned_steps, double seconds_left) override;

 private:
  StatusLine line_;
};

}  // namespace heed::cli
