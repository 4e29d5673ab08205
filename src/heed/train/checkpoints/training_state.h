#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/data/fingerprint.h"
#include "heed/train/optimizers/outliers.h"

namespace heed::train {

/// Fingerprints of the training and the validation text, before examples are held out.
struct DataFingerprint {
  data::Fingerprint training;
  data::Fingerprint validation;  // of no text if validation examples are held out
};

/// What a checkpoint saves besides weights and moments. A resumed run yields the same bits as one
/// that was never stopped: shuffling and dropout masks are functions of the seed and these
/// counters.
struct TrainingState {
  int64_t step = 0;  // steps taken or skipped
  int64_t epoch = 0;
  int64_t batch = 0;          // number of batches of the epoch that are used up
  int64_t planned_steps = 0;  // the last step; 0: not known yet
  int64_t tokens = 0;         // trained on so far, as StepLoss::tokens_read() counts
  double seconds = 0;         // of all sessions
  bool finished = false;
  /// What the configuration says, or less, if that fits into memory and time; 0 in older
  /// checkpoints: what the configuration says.
  int64_t token_budget = 0, gradient_accumulation_steps = 0;
  int64_t microbatches = 1;  // see DistributedConfig

  // Batches differ. With 8 standard deviations (optimizer.skip_outliers) a loss is skipped that is
  // at least twice the mean, a gradient 5 times: smaller ones are clipped and do no harm.
  Outliers losses{0.125}, gradient_norms{0.5};
  int64_t outliers_in_a_row = 0;
  int64_t skipped_steps = 0;

  double best_score = -1;  // see ValidationRecord::score()
  int64_t best_step = 0;
  int64_t validations_since_best = 0;
  std::vector<int64_t> averaged_steps;  // whose weights are kept for averaging, oldest first

  std::optional<DataFingerprint> data;  // older checkpoints have none
  /// The base model of an adapter; older checkpoints have none.
  std::optional<data::Fingerprint> base;

  nlohmann::json to_json() const;
  /// Throws Error naming the field that is missing or of the wrong type.
  static TrainingState from_json(const nlohmann::json& json, const std::string& file);
};

}  // namespace heed::train
