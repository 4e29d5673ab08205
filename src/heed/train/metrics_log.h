#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

#include "heed/train/observer.h"

namespace heed::train {

/// All records of a run, earlier sessions included.
struct History {
  std::vector<StepRecord> steps;
  std::vector<ValidationRecord> validations;
};

/// metrics.jsonl: one JSON object per line, {"kind": "step", ...} or {"kind": "validation", ...}. A
/// step of several ranks has "communication", an object with the fields of StepCommunication.
class MetricsLog {
 public:
  /// Opens the file for appending. First removes the lines of steps after `last_step`, which a
  /// resumed run repeats, and a last line that a crash cut off.
  /// With `writes` false it only keeps the history: another rank writes the file.
  MetricsLog(const std::filesystem::path& path, int64_t last_step, SampleNames names,
             bool writes = true);

  void add(const StepRecord& record);
  void add(const ValidationRecord& record);
  /// Waits until all added records are on the disk.
  void sync();

  /// Why a record could not be written (disk full); empty if all could. Not an exception, so that
  /// the run can save a checkpoint first.
  const std::string& problem() const { return problem_; }

  const History& history() const { return history_; }

 private:
  void write(const std::string& line);

  std::filesystem::path path_;
  SampleNames names_;
  bool writes_;
  std::ofstream file_;
  std::string problem_;
  History history_;
};

}  // namespace heed::train
