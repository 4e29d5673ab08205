#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/data/text_groups.h"
#include "heed/tasks/embedder.h"
#include "heed/train/checkpoints/dense_modules.h"

namespace heed::train {

/// What a text becomes: of dense vectors, the poolings of its states, the modules that map the
/// result, and whether the vector gets the length 1.
struct VectorOfText {
  data::VectorKind kind = data::VectorKind::dense;
  std::vector<Pooling> pooling = {Pooling::mean};  // one after the other
  bool normalized = true;
  std::vector<DenseModule> dense = {};  // of multi_vector one, of the states of tokens

  /// Numbers of a vector of a model of this width.
  int64_t width(int64_t d_model) const {
    return dense.empty() ? d_model * std::ssize(pooling) : dense.back().out;
  }
};

/// "cls, mean".
std::string names_of(const std::vector<Pooling>& poolings);

/// The files by which sentence-transformers takes vectors from a model directory: modules.json, the
/// settings of its modules, and config_sentence_transformers.json with prompts. The modules are a
/// Transformer and, for dense vectors, a Pooling and perhaps Dense modules and a Normalize; for
/// sparse ones a SpladePooling, for vectors of tokens a Dense, a MultiVectorMask and a Normalize.
/// They say what `vector` and the texts of `options` do.
std::vector<checkpoint::NamedFile> embedder_files(const tasks::EmbedderOptions& options,
                                                  const VectorOfText& vector,
                                                  const model::ModelConfig& model);

/// Throws Error, naming the file, on a module of a model directory that training would leave out.
void require_trained_modules(const std::filesystem::path& model_path);

}  // namespace heed::train
