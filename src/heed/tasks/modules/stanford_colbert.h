#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "heed/tasks/modules/multi_vector_settings.h"
#include "heed/tasks/modules/vector_module.h"

namespace heed::tasks {

/// What a checkpoint of Stanford's ColBERT (Santhanam et al. 2022, ColBERTv2) has beside an
/// encoder: settings in artifact.metadata, and the projection "linear.weight" among the weights.
struct StanfordColbert {
  MultiVectorSettings settings;
  VectorModules modules;                       // of tokens: the projection, then to length 1
  std::map<std::string, std::string> prompts;  // the marks of queries and documents
};

/// Whether a directory is one.
bool is_stanford_colbert(const std::filesystem::path& model_path);
/// Throws Error, naming file and key, on settings that heed does not apply, and without projection.
StanfordColbert read_stanford_colbert(const std::filesystem::path& model_path);

}  // namespace heed::tasks
