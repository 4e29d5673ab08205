#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

#include "heed/train/events.h"

namespace heed::train {

/// Everything a run has measured.
struct History {
  std::vector<StepRecord> steps;
  std::vector<ValidationRecord> validations;
};

/// metrics.jsonl: a JSON object a line, {"kind": "step", ...} or {"kind": "validation", ...}.
class MetricsLog {
 public:
  /// Opens the file for appending. Lines of steps after `last_step` are dropped first: a resumed
  /// run takes those steps again. A last line that was cut by a crash is dropped as well.
  /// `names` are what the parts of samples are called.
  MetricsLog(const std::filesystem::path& path, int64_t last_step, SampleNames names);

  void add(const StepRecord& record);
  void add(const ValidationRecord& record);
  /// Brings what was added to the disk.
  void sync();

  /// Why a line could not be written (disk full); empty while all are. Not an exception, so that
  /// the run can save itself.
  const std::string& problem() const { return problem_; }

  const History& history() const { return history_; }

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  SampleNames names_;
  std::ofstream file_;
  std::string problem_;
  History history_;
};

}  // namespace heed::train
