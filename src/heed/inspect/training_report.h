#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// The contents of a report of a training run. Unknown numbers are NaN and are not shown.
struct TrainingReport {
  /// One optimiser step.
  struct Point {
    int64_t step = 0;
    double seconds = 0;        ///< since the start of the run
    double loss = 0;           ///< nats per target token
    double gradient_norm = 0;  ///< before clipping
    double learning_rate = 0;
    double tokens_per_second = 0;
  };

  struct Validation {
    int64_t step = 0;
    double seconds = 0;  ///< since the start of the run
    double loss = 0;     ///< nats per target token
    double perplexity = 0;
    double bleu = 0, chrf = 0;  ///< 0 to 100
  };

  /// A validation example and the model's output for it at the last validation. `attention` may
  /// have no maps.
  struct Sample {
    std::string given, reference, output;
    AttentionCapture attention;
  };

  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, in display order
  std::vector<Point> steps;                                ///< by increasing step
  std::vector<Validation> validations;                     ///< by increasing step
  std::vector<Sample> samples;
  /// The labels of the parts of a sample.
  std::array<std::string, 3> sample_names{"source", "reference", "translation"};
};

/// A self-contained HTML page: key figures, curves with values on hover, the validations, and
/// samples with word-by-word differences between reference and output and with their attention.
/// More than 1000 steps are drawn as at most 1000 means with their ranges. Throws Error as
/// check(AttentionCapture) does.
std::string training_report(const TrainingReport& report);

}  // namespace heed::inspect
