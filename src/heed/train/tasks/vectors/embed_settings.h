#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "heed/tasks/embedder.h"
#include "heed/train/config/config.h"
#include "heed/train/tasks/vectors/embed_files.h"

namespace heed::train {

/// The functions of Dense modules. Throws Error, naming the file, on one that heed does not train.
std::vector<data::DenseFunction> functions_of(const std::vector<DenseModule>& modules);

/// How a model makes vectors: as the files at `start` say (empty: there are none), unless the
/// configuration says it. Throws Error on files of what heed does not train, on sparse vectors of a
/// model without the head of a masked language model, and on losses of other kinds of vectors.
std::pair<tasks::EmbedderOptions, VectorOfText> embed_settings(const TrainConfig& config,
                                                               const model::ModelConfig& model,
                                                               const std::filesystem::path& start);

}  // namespace heed::train
