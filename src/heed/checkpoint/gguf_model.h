#pragma once

#include <filesystem>
#include <memory>

#include "heed/io/gguf.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// The model in a GGUF file, described as model directories are.
struct GgufModel {
  model::ModelConfig config;
  model::Family family;  // of `config`, with the table of weights of the file
  std::shared_ptr<const io::TensorSource> weights;
};

/// Reads a GGUF file of one of the architectures llama, qwen2, qwen3, gemma2, gpt2 and deepseek2:
/// its metadata become the config.json that the model had before it was converted. Throws Error
/// naming the file and what is missing, wrong or not supported.
GgufModel open_gguf_model(const std::filesystem::path& path);

}  // namespace heed::checkpoint
