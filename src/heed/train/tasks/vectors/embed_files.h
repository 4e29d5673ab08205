#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/tasks/embedder.h"

namespace heed::train {

/// The pooling of a text's states, and whether the vector gets the length 1.
struct VectorOfText {
  Pooling pooling = Pooling::mean;
  bool normalized = true;
};

/// The files by which sentence-transformers takes vectors from a model directory: modules.json, the
/// settings of a Transformer, a Pooling and perhaps a Normalize module, and
/// config_sentence_transformers.json with prompts. They say what `vector` and the texts of
/// `options` do.
std::vector<checkpoint::NamedFile> embedder_files(const tasks::EmbedderOptions& options,
                                                  VectorOfText vector, int64_t d_model);

/// Throws Error, naming the file, on a module of a model directory that training would leave out:
/// any but a Transformer, a Pooling and a Normalize.
void require_trained_modules(const std::filesystem::path& model_path);

}  // namespace heed::train
