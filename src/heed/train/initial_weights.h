#pragma once

#include "heed/model/transformer.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Takes the model's configuration from the checkpoint that `config.from` names. Throws Error when
/// it is not a model directory with weights that can be trained.
void read_initial_config(TrainConfig& config);

/// Reads the files that new weights start from, so that one that is missing or does not fit the
/// model is found before a vocabulary is learned. Throws Error.
void check_initial_weights(const TrainConfig& config);

/// Puts the weights of `config.from` and the vectors of `config.vocabulary.word_vectors`, where
/// they are given, in place of the random ones.
void load_initial_weights(const TrainConfig& config, const Task& task, model::Transformer& model,
                          const Log& log);

}  // namespace heed::train
