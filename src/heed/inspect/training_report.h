#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/inspect/attention_capture.h"

namespace heed::inspect {

/// What a report of a training run shows. Numbers that are not known are NaN and left out.
struct TrainingReport {
  /// One step of the optimiser.
  struct Point {
    int64_t step = 0;
    double seconds = 0;        ///< since the run began
    double loss = 0;           ///< nats per target token
    double gradient_norm = 0;  ///< before clipping
    double learning_rate = 0;
    double tokens_per_second = 0;
  };

  struct Validation {
    int64_t step = 0;
    double seconds = 0;  ///< since the run began
    double loss = 0;     ///< nats per target token
    double perplexity = 0;
    double bleu = 0, chrf = 0;  ///< 0 to 100
  };

  /// What the model makes of a validation example (`given`) at the end of the run; the attention
  /// may be left empty (no maps).
  struct Sample {
    std::string given, reference, output;
    AttentionCapture attention;
  };

  std::string title;
  std::vector<std::pair<std::string, std::string>> facts;  ///< name and value, shown in this order
  std::vector<Point> steps;                                ///< by rising step
  std::vector<Validation> validations;                     ///< by rising step
  std::vector<Sample> samples;
  /// What the parts of a sample are called.
  std::array<std::string, 3> sample_names{"source", "reference", "translation"};
};

/// One self-contained HTML page: headline figures, curves with values on hover, the validations,
/// and samples in which reference and output are compared word by word, with their attention.
/// More than 1000 steps are drawn as at most 1000 means with their range. Throws Error as
/// check(AttentionCapture) does.
std::string training_report(const TrainingReport& report);

}  // namespace heed::inspect
