#pragma once

#include "heed/data/fingerprint.h"
#include "heed/model/transformer.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Sets `config.model` to the configuration of the model directory `config.from`. Throws Error when
/// that is not a model directory with weights that can be trained.
void read_initial_config(TrainConfig& config);

/// Reads the word vectors that initialise embeddings, if there are any. Throws Error when they are
/// missing or do not fit the model: before a vocabulary is learned, which takes time.
void check_initial_weights(const TrainConfig& config);

/// Replaces the random weights of `model` by those of `config.from` and its embeddings by the
/// vectors of `config.vocabulary.word_vectors`, where these are set.
void load_initial_weights(const TrainConfig& config, const Task& task, model::Transformer& model,
                          Observer& observer);

/// Detects that the base model of an adapter has changed: the number of its parameters, and a hash
/// of their names, types, shapes and elements, of all of them. The same for any number of threads.
data::Fingerprint fingerprint_of(const model::Transformer& base);

/// Throws Error, naming the base model and the difference, unless the base is the one that the run
/// began with.
void require_same_base(const data::Fingerprint& began, const data::Fingerprint& now,
                       const std::string& path);

}  // namespace heed::train
