#pragma once

#include <filesystem>
#include <string>

namespace heed {

/// A LoRA adapter (Hu et al. 2021) to load with a model (LoadOptions::adapters): a directory with
/// adapter_config.json and adapter_model.safetensors, as `heed train --lora` and Python's peft
/// write it, a GGUF file (.gguf), as llama.cpp's convert_lora_to_gguf.py writes it, or
/// OWNER/NAME[@REVISION] of the Hugging Face hub (resolve_adapter()).
struct AdapterOptions {
  /// The directory, the file, or the name on the hub.
  std::filesystem::path path;
  /// The name by which a request chooses it (Request::adapters); empty: the last part of the path,
  /// or NAME[@REVISION] of the hub.
  std::string name = {};
  /// The factor of what the adapter adds; with 0 it has no effect.
  float scale = 1;

  bool operator==(const AdapterOptions&) const = default;
};

}  // namespace heed
