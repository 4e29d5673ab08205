#pragma once

#include <vector>

#include "heed/train/checkpoints/run_directory.h"
#include "heed/train/checkpoints/trained_weights.h"
#include "heed/train/checkpoints/training_state.h"
#include "heed/train/optimizers/evaluated_weights.h"

namespace heed::train {

struct Checkpoint {
  TrainedWeights& weights;
  Optimizer& optimizer;
  const StepGradients& gradients;  // which say what other ranks have
  TrainingState& state;
};

/// Writes a new checkpoint beside `last/` and then replaces `last/` by it: after a crash at any
/// moment, one of the two is complete. Throws Error (disk full, no permission); this removes the
/// incomplete checkpoint and leaves the old one as it was. Collective: rank 0 writes.
void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const EvaluatedWeights& evaluated,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files,
                     distribute::Group& group);

/// Rewrites only training.json in `last/`. The weights and moments there must be of the same step.
void save_state(const RunDirectory& run, const Checkpoint& checkpoint);

/// The counters of the last checkpoint. Throws Error when the file is missing or damaged.
TrainingState read_state(const RunDirectory& run);

/// Restores what save_checkpoint() wrote. Throws Error when a file is missing or damaged, or when
/// its tensors have other shapes than the parameters.
void load_checkpoint(const RunDirectory& run, Checkpoint checkpoint);

}  // namespace heed::train
