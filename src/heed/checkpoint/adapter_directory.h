#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "heed/checkpoint/adapter_config.h"
#include "heed/io/safetensors.h"
#include "heed/model/lora.h"

namespace heed::checkpoint {

/// A weight of the base model that an adapter's file holds, too, with other elements.
struct ReplacedWeight {
  std::string name;        // of the tensor
  std::string model_name;  // of the parameter
  Tensor value;            // f32
};

/// An adapter of a model and its settings.
struct LoadedAdapter {
  AdapterConfig config;
  std::unique_ptr<model::LoraAdapter> lora;
  /// What PEFT saves beside the adapter of a head, or when a vocabulary has grown.
  std::vector<ReplacedWeight> replaced = {};
  std::vector<std::string> warnings = {};
};

/// Reads an adapter that Python's peft, or save_adapter(), has written: adapter_config.json and
/// its tensors (open_adapter_tensors()); or one in a GGUF file, as load_gguf_adapter() does.
/// Matrices of modules that the settings do not select are left out with a warning, as PEFT leaves
/// them out. Throws Error as read_adapter_config() does, and, with the file, the tensor, both
/// shapes and the base model that the adapter names, when a tensor belongs to no module of the
/// model, has another shape or rank, or lacks its partner.
LoadedAdapter load_adapter(const std::filesystem::path& directory, const model::Transformer& model);

/// The tensors of adapter_model.safetensors, or else of adapter_model.bin (io/pytorch/). Throws
/// Error when there is neither.
std::shared_ptr<const io::TensorSource> open_adapter_tensors(
    const std::filesystem::path& directory);

/// The matrices as adapter_model.safetensors holds them: two tensors for each module.
std::vector<io::NamedTensor> adapter_tensors(const model::LoraAdapter& adapter);
/// Sets the matrices from such tensors, which have the names and shapes of adapter_tensors().
/// Throws Error otherwise.
void set_adapter_tensors(model::LoraAdapter& adapter, const io::TensorSource& source);

/// Writes adapter_config.json and adapter_model.safetensors into `directory`, which is created if
/// it is missing. Each file is replaced atomically, the matrices last.
void save_adapter(const std::filesystem::path& directory, const model::Transformer& model,
                  const model::LoraAdapter& adapter, const AdapterConfig& config);

/// Gives `model` the weights of the base model that the adapter's file holds.
void replace_weights(model::Transformer& model, const LoadedAdapter& adapter);
/// Adds factor * scale * B A to the weights of `model`, which are f32. Throws Error on others.
void merge_adapter(model::Transformer& model, const Adapter& adapter, float factor);

}  // namespace heed::checkpoint
