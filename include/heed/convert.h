#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "heed/adapter.h"
#include "heed/executor.h"
#include "heed/export.h"
#include "heed/hub.h"

namespace heed {

/// How convert_model() writes a model, or an adapter alone, in another format.
struct ConvertOptions {
  /// The type of the matrices in a GGUF file: "f32", "f16", "bf16", or a block type as
  /// QuantizeOptions::weights has them; vectors are f32. Empty: f16. The type of all weights in a
  /// directory: "f32", "f16" or "bf16"; empty: f32. An adapter alone has f32 unless this is "f16",
  /// "bf16" or "q8_0" for a GGUF file.
  std::string weights = {};
  /// LoRA adapters, which are added to the weights.
  std::vector<AdapterOptions> adapters = {};
  /// If given, the source is a LoRA adapter of this model, a model directory, a GGUF file or
  /// OWNER/NAME of the hub, of which only the configuration is read.
  std::filesystem::path base = {};
  /// The threads that compute; without it, Executor::shared().
  std::shared_ptr<Executor> executor = {};
  /// How a model that is named OWNER/NAME is found and downloaded.
  HubOptions hub = {};
};

/// Writes the model `source`, a model directory, a GGUF file or OWNER/NAME of the hub, in the
/// format that `target` names: a new GGUF file if it ends with ".gguf", as llama.cpp's converter
/// writes it, with the tokenizer, the chat template, the pooling and the settings of sampling;
/// otherwise a new model directory, as transformers reads it. A GGUF file made of another keeps its
/// metadata. With ConvertOptions::base, writes the adapter `source` likewise: a GGUF file as
/// llama.cpp's convert_lora_to_gguf.py does, or a directory as peft reads it. Returns warnings
/// about what the target leaves out. Throws Error when `target` exists, when the format cannot say
/// what the files say, naming it, on unknown types, and when a file cannot be read or written. A
/// target that is not complete is not left behind.
HEED_EXPORT std::vector<std::string> convert_model(const std::filesystem::path& source,
                                                   const std::filesystem::path& target,
                                                   const ConvertOptions& options = {});

}  // namespace heed
