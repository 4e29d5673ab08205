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
  /// If set, weights are packed for this arithmetic while they are loaded (load_weights()).
  std::optional<Compute> pack = {};
  /// Called with each weight that was read and packed.
  OnPacked on_packed = {};
  /// If set, weights are initialised from this seed instead of read; only config.json is needed.
  std::optional<uint64_t> random_seed = {};
  /// See model::ModelConfig::set_context().
  std::optional<int64_t> context = {};
  /// Of a divided model, the own part is loaded; null: the whole model.
  std::shared_ptr<const nn::Parts> parts = {};
};

/// Builds the model that a directory (config.json) or a GGUF file describes. Its parameters have
/// shapes but no values, so this takes almost no memory.
std::unique_ptr<model::Transformer> build_model(const std::filesystem::path& path,
                                                std::optional<int64_t> context = {});

/// The tensors of a model directory (model.safetensors, shards with an index, or quantised weights)
/// under their names in the files. Throws Error when there are none.
std::shared_ptr<const io::TensorSource> open_directory_tensors(
    const std::filesystem::path& directory);

/// build_model() with its weights (model.safetensors, shards with an index, or the GGUF file's).
/// Throws Error with the file, the tensor, what was found and what was expected when a weight is
/// missing, left over or of another shape.
std::unique_ptr<model::Transformer> load_model(const std::filesystem::path& path,
                                               const LoadOptions& options = {});

/// Sets the weights of a model that was built for the configuration at `path`, perhaps with other
/// dropout rates, as they are stored: quantised, of 16 bits or f32.
void load_stored_weights(model::Transformer& model, const std::filesystem::path& path);

/// The name and the contents of a file beside the weights, such as the tokenizer's.
using NamedFile = std::pair<std::string, std::string>;

/// Writes config.json, generation_config.json, model.safetensors (f32) and `others` into
/// `directory`, which is created if it is missing. Each file is replaced atomically, the weights
/// last.
void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others);

}  // namespace heed::checkpoint
