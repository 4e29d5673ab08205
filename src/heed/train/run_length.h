#pragma once

#include <cstdint>

#include "heed/train/config.h"

namespace heed::train {

/// Where a run is, and how fast this session has been, in seconds.
struct Pace {
  int64_t step = 0;         // of the run
  int64_t steps_timed = 0;  // of this session; 0: nothing is known yet
  double elapsed = 0;       // since the run began
  double stepping = 0;      // that the timed steps took, validations left out
  double validating = 0;    // that the validations among them took
};

/// The step that a run ends with; 0: not known yet. A limit in minutes becomes the number of steps
/// that fit, with their share of validations and the last validation, of the average. `batches` are
/// those of an epoch: epochs differ by a batch or so, and the first stands for all.
int64_t planned_steps(const TrainConfig& config, int64_t batches, const Pace& pace);

}  // namespace heed::train
