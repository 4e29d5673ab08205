#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/checkpoint/weights.h"
#include "heed/io/model_files.h"
#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// Which model is built from the files.
struct BuildOptions {
  /// See model::ModelConfig::set_context().
  std::optional<int64_t> context = {};
  /// Of a tensor-parallel model, the own part is built; null: the whole model.
  std::shared_ptr<const nn::TensorParallel> parts = {};
  /// Only config.json is read; weights are initialised from this seed.
  std::optional<uint64_t> random_seed = {};
  /// Where the model computes and has its weights; null: on the host.
  Device* device = nullptr;
};

/// How its weights are read.
struct WeightOptions {
  quantize::WeightPrecision precision = {};
  /// If set, weights are packed for this arithmetic while they are read (load_weights()).
  std::optional<Compute> pack = {};
  /// Called with each weight that was read and packed.
  OnPacked on_packed = {};
};

/// A model whose files are open and whose weights are not read yet: its parameters have shapes and
/// no values, which takes almost no memory.
class OpenedModel {
 public:
  /// Opens a directory (config.json, and quantised weights or those of open_model_tensors(); or
  /// Marian's own files) or a GGUF file. Throws Error that names the file and the fault.
  explicit OpenedModel(const io::ModelFiles& files, const BuildOptions& options = {});

  const model::Transformer& model() const { return *model_; }
  /// Sets BuildOptions::device later.
  void move_to(Device* device) { model_->move_to(device); }
  /// The type in which each parameter is stored, in their order; f32 for those that are not.
  std::vector<DType> stored_dtypes() const;
  /// Reads the weights, or initialises them. Throws Error with the file, the tensor, what was found
  /// and what was expected when a weight is missing, left over or of another shape.
  std::unique_ptr<model::Transformer> load(const WeightOptions& options = {}) &&;

 private:
  std::unique_ptr<model::Transformer> model_;
  model::Family family_;
  std::shared_ptr<const io::TensorSource> weights_;  // null for random ones
  std::optional<uint64_t> random_seed_;
};

/// The model that a directory (config.json) or a GGUF file describes, without values; a directory
/// need not have weights.
std::unique_ptr<model::Transformer> build_model(const io::ModelFiles& files,
                                                std::optional<int64_t> context = {});

/// The tensors of a model directory (quantised weights, or those of open_model_tensors()) under
/// their names in the files. Throws Error when there are none.
std::shared_ptr<const io::TensorSource> open_directory_tensors(
    const std::filesystem::path& directory);

/// An OpenedModel with its weights.
std::unique_ptr<model::Transformer> load_model(const io::ModelFiles& files,
                                               const WeightOptions& options = {},
                                               const BuildOptions& build = {});

/// Sets the weights of a model that was built for the configuration in `files`, perhaps with other
/// dropout rates, as they are stored: quantised, of 16 bits or f32.
void load_stored_weights(model::Transformer& model, const io::ModelFiles& files);

/// The name and the contents of a file beside the weights, such as the tokenizer's.
using NamedFile = std::pair<std::string, std::string>;

/// Writes config.json, generation_config.json, model.safetensors and `others` into `directory`,
/// which is created if it is missing. Each file is replaced atomically, the weights last. Their
/// dtype is f32, f16 or bf16; correction biases of routers are always f32, as in transformers.
void save_model(const std::filesystem::path& directory, const model::Transformer& model,
                const std::vector<NamedFile>& others, DType dtype = DType::f32);

}  // namespace heed::checkpoint
