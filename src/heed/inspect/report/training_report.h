#pragma once

#include <string>
#include <utility>
#include <vector>

#include "heed/inspect/attention/attention_capture.h"
#include "heed/train/observer.h"

namespace heed::inspect {

/// The contents of the report of a training run. Numbers that are not finite are omitted.
struct TrainingReport {
  /// An example and the model's output for it. The attention may be empty (no maps).
  struct Sample {
    train::Sample texts;
    AttentionCapture attention;
  };

  std::string title = "Training report";
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, shown in this order
  std::vector<train::StepRecord> steps;                    ///< in order of steps
  std::vector<train::ValidationRecord> validations;        ///< in order of steps
  std::vector<Sample> samples;
  train::SampleNames sample_names{"source", "reference", "translation"};
};

/// A self-contained HTML page: key figures, curves with values on hover, the validations, and
/// samples with their attention, in which reference and output are compared word by word. More than
/// 1000 steps are drawn as at most 1000 means with their ranges. Throws Error when the attention of
/// a sample does not match its texts (check()).
std::string training_report(const TrainingReport& report);

}  // namespace heed::inspect
