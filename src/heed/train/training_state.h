#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/fingerprint.h"
#include "heed/train/outliers.h"

namespace heed::train {

/// The text that a run learns from and is validated on, before any is held out.
struct DataFingerprint {
  data::Fingerprint training;
  data::Fingerprint validation;  // of no text where it is taken from the training text
};

/// Everything a run must remember, beside weights and moments, to go on as if it had never stopped.
/// The shuffle and the dropout masks are functions of the seed and these counters.
struct TrainingState {
  int64_t step = 0;  // steps taken or skipped
  int64_t epoch = 0;
  int64_t batch = 0;          // batches of the epoch that are used up
  int64_t planned_steps = 0;  // where the run ends; 0: not decided yet
  int64_t tokens = 0;         // trained on so far
  double seconds = 0;         // of all sessions together
  bool finished = false;

  Outliers losses, gradient_norms;
  int64_t outliers_in_a_row = 0;
  int64_t skipped_steps = 0;

  double best_score = -1;  // of all validations; see ValidationRecord
  int64_t best_step = 0;
  int64_t validations_since_best = 0;
  std::vector<int64_t> averaged_steps;  // checkpoints kept for averaging, oldest first

  std::optional<DataFingerprint> data;  // older checkpoints have none

  nlohmann::json to_json() const;
  /// Throws Error naming the field that is missing or of the wrong type.
  static TrainingState from_json(const nlohmann::json& json, const std::string& file);
};

}  // namespace heed::train
