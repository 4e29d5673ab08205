#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heed/format/safetensors.h"
#include "heed/model/transformer.h"

namespace heed::format {

/// Builds the model that `directory` describes (config.json) and fills it with its weights
/// (model.safetensors, or shards with an index). Throws Error with the file, the tensor, what was
/// found and what was expected when a weight is missing, left over or of another shape.
std::unique_ptr<model::Transformer> load_model(const std::filesystem::path& directory);

/// A file that lies beside the weights: the tokenizer's, for instance.
using NamedFile = std::pair<std::string, std::string>;

/// Writes config.json, generation_config.json, model.safetensors (f32) and `others` into
/// `directory`, which is made when missing; each file is replaced whole or not at all, the weights
/// last.
void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others);

/// The weights of `model` under their names in its family's files.
std::vector<NamedTensor> stored_weights(const model::Transformer& model);

/// Sets all parameters of `model` from the tensors of a file, checked against its table of weights.
void load_weights(model::Transformer& model, const TensorSource& source);

}  // namespace heed::format
