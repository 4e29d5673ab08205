#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/checkpoint/weights.h"
#include "heed/model/transformer.h"

namespace heed::checkpoint {

struct LoadOptions {
  quantize::WeightPrecision precision = {};
  /// Given: weights are packed for this arithmetic while they are loaded (load_weights()).
  std::optional<Compute> pack = {};
  /// Given: weights are drawn from this seed instead of read; only config.json need be there.
  std::optional<uint64_t> random_seed = {};
};

/// Builds the model that a directory (config.json) or a GGUF file describes. The parameters have
/// shapes but no values: for those who want to know a model's size.
std::unique_ptr<model::Transformer> describe_model(const std::filesystem::path& path);

/// The same, filled with its weights (model.safetensors, shards with an index, or the GGUF file's).
/// Throws Error with the file, the tensor, what was found and what was expected when a weight is
/// missing, left over or of another shape.
std::unique_ptr<model::Transformer> load_model(const std::filesystem::path& path,
                                               const LoadOptions& options = {});

/// A file that lies beside the weights: the tokenizer's, for instance.
using NamedFile = std::pair<std::string, std::string>;

/// Writes config.json, generation_config.json, model.safetensors (f32) and `others` into
/// `directory`, which is made when missing; each file is replaced whole or not at all, the weights
/// last.
void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others);

}  // namespace heed::checkpoint
