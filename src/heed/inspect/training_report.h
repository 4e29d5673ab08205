#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/inspect/attention_capture.h"
#include "heed/train/events.h"

namespace heed::inspect {

/// What a report of a training run shows. Numbers that are not finite are left out.
struct TrainingReport {
  /// An example and what the model makes of it at the end of the run. The attention may be left
  /// empty (no maps).
  struct Sample {
    train::Sample texts;
    AttentionCapture attention;
  };

  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, shown in this order
  std::vector<train::StepRecord> steps;                    ///< by rising step
  std::vector<train::ValidationRecord> validations;        ///< by rising step
  std::vector<Sample> samples;
  train::SampleNames sample_names{"source", "reference", "translation"};
};

/// One self-contained HTML page: headline figures, curves with values on hover, the validations,
/// and samples in which reference and output are compared word by word, with their attention.
/// More than 1000 steps are drawn as at most 1000 means with their range. Throws Error when the
/// attention of a sample does not fit its texts (check()).
std::string training_report(const TrainingReport& report);

}  // namespace heed::inspect
