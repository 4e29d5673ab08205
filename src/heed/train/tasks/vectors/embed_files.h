#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/data/text_groups.h"
#include "heed/tasks/embedder.h"

namespace heed::train {

/// What a text becomes: of dense vectors, the pooling of its states, and whether the vector gets
/// the length 1.
struct VectorOfText {
  data::VectorKind kind = data::VectorKind::dense;
  Pooling pooling = Pooling::mean;
  bool normalized = true;
  int64_t token_dims = 0;  // of multi_vector: numbers of the vector of a token
};

/// The files by which sentence-transformers takes vectors from a model directory: modules.json, the
/// settings of its modules, and config_sentence_transformers.json with prompts. The modules are a
/// Transformer and, for dense vectors, a Pooling and perhaps a Normalize; for sparse ones a
/// SpladePooling, for vectors of tokens a Dense (token_projection.h), a MultiVectorMask and a
/// Normalize. They say what `vector` and the texts of `options` do.
std::vector<checkpoint::NamedFile> embedder_files(const tasks::EmbedderOptions& options,
                                                  VectorOfText vector,
                                                  const model::ModelConfig& model);

/// Throws Error, naming the file, on a module of a model directory that training would leave out.
void require_trained_modules(const std::filesystem::path& model_path);

}  // namespace heed::train
