#pragma once

#include <filesystem>
#include <memory>

#include "heed/io/gguf.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// What a GGUF file holds of a model, in the words of the rest of heed.
struct GgufModel {
  model::ModelConfig config;
  model::Family family;  // that of `config`, but for the table of weights, which is the file's
  std::shared_ptr<const io::TensorSource> weights;
};

/// Reads what a GGUF file of the architectures llama, qwen2, qwen3, gemma2, gpt2 and deepseek2 says
/// of its model: the same config.json is made of it that the model had before it was converted.
/// Throws Error naming the file and what is missing, wrong or not supported.
GgufModel open_gguf_model(const std::filesystem::path& path);

}  // namespace heed::checkpoint
