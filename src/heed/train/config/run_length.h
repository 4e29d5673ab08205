#pragma once

#include <cstdint>

#include "heed/train/config/config.h"

namespace heed::train {

/// The position of a run, and the speed of this session in seconds.
struct Pace {
  int64_t step = 0;         // of the run
  int64_t steps_timed = 0;  // of this session; 0: none yet
  double elapsed = 0;       // since the run began
  double stepping = 0;      // for the timed steps, without validations
  double validating = 0;    // for the validations between them
};

/// The last step of a run; 0: not known yet. A limit in minutes becomes the number of steps that
/// fit, including their validations and that of the averaged checkpoints. `batches` is the number
/// of batches per epoch, which varies by about one; pass that of the first.
int64_t planned_steps(const TrainConfig& config, int64_t batches, const Pace& pace);

}  // namespace heed::train
