#pragma once

#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/model/transformer.h"
#include "heed/train/optimizer.h"
#include "heed/train/run_directory.h"
#include "heed/train/training_state.h"

namespace heed::train {

struct Checkpoint {
  model::Transformer& model;
  Optimizer& optimizer;
  TrainingState& state;
};

/// Writes `last/` beside the old one and exchanges the two in one step: a crash at any moment
/// leaves one of them whole. Throws Error (disk full, no permission); the old checkpoint is then
/// untouched, and the room of the new one free again.
void save_checkpoint(const RunDirectory& run, const Checkpoint& checkpoint,
                     const std::vector<checkpoint::NamedFile>& tokenizer_files);

/// Replaces training.json alone in `last/`, whose weights and moments are of the same step.
void save_state(const RunDirectory& run, const Checkpoint& checkpoint);

/// Restores what save_checkpoint() wrote. Throws Error when a file is missing, damaged, or of a
/// model of another shape.
void load_checkpoint(const RunDirectory& run, Checkpoint checkpoint);

}  // namespace heed::train
