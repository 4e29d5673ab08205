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

/// Options of convert_model().
struct ConvertOptions {
  /// The type of the matrices in a GGUF file: "f32", "f16", "bf16", or a block type as
  /// QuantizeOptions::weights has them. Vectors are f32. Empty: f16. A directory has f32.
  std::string weights = {};
  /// LoRA adapters, which are added to the weights.
  std::vector<AdapterOptions> adapters = {};
  /// The threads that compute; without it, Executor::shared().
  std::shared_ptr<Executor> executor = {};
  /// How a model that is named OWNER/NAME is found and downloaded.
  HubOptions hub = {};
};

/// Writes the model `source`, a model directory, a GGUF file or OWNER/NAME of the hub, in the
/// format that `target` names: a new GGUF file if it ends with ".gguf", as llama.cpp's converter
/// writes it, with the tokenizer, the chat template, the pooling and the settings of sampling;
/// otherwise a new model directory, as transformers reads it. Returns warnings about what the
/// target leaves out. Throws Error when `target` exists, when the format cannot say what the
/// model's files say, naming it, when both are GGUF files, on unknown types, and when a file cannot
/// be read or written. A target that is not complete is not left behind.
HEED_EXPORT std::vector<std::string> convert_model(const std::filesystem::path& source,
                                                   const std::filesystem::path& target,
                                                   const ConvertOptions& options = {});

}  // namespace heed
