#pragma once

#include <memory>

#include "heed/io/model_files.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// A model in a GGUF file, in the terms of model directories.
struct GgufModel {
  model::ModelConfig config;
  model::Family family;  // with the names of the weights in the file
  std::shared_ptr<const io::TensorSource> weights;
};

/// Reads a GGUF file of an architecture that a family has: converts its metadata back to the
/// config.json of the original model. Throws Error that names the file and what is missing, wrong
/// or not supported.
GgufModel open_gguf_model(const io::ModelFiles& files);

}  // namespace heed::checkpoint
