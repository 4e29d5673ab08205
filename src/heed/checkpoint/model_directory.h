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
  /// Given: weights are initialised from this seed instead of read; config.json is enough.
  std::optional<uint64_t> random_seed = {};
};

/// Builds the model that a directory (config.json) or a GGUF file describes. Its parameters have
/// shapes but no values: enough to count them, in next to no memory.
std::unique_ptr<model::Transformer> build_model(const std::filesystem::path& path);

/// The tensors of a model directory (model.safetensors, shards with an index, or quantised weights)
/// under the names that they have there. Throws Error when there are none.
std::shared_ptr<const io::TensorSource> open_directory_tensors(
    const std::filesystem::path& directory);

/// build_model() with its weights (model.safetensors, shards with an index, or the GGUF file's).
/// Throws Error with the file, the tensor, what was found and what was expected when a weight is
/// missing, left over or of another shape.
std::unique_ptr<model::Transformer> load_model(const std::filesystem::path& path,
                                               const LoadOptions& options = {});

/// The name and the contents of a file beside the weights, such as the tokenizer's.
using NamedFile = std::pair<std::string, std::string>;

/// Writes config.json, generation_config.json, model.safetensors (f32) and `others` into
/// `directory`, which is made when missing; each file is replaced whole or not at all, the weights
/// last.
void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others);

}  // namespace heed::checkpoint
