#pragma once

#include <string>
#include <vector>

#include "heed/model.h"

namespace heed::serve {

/// What a model can be asked to do, one for each kind of route.
struct ModelTasks {
  bool generate = false, chat = false, translate = false, embed = false, rerank = false;
  bool score = false, fill = false, attention = false;
};
ModelTasks tasks_of(const Model& model);

/// The names of those that it can do, as GET /v1/models lists them.
std::vector<std::string> names_of(const ModelTasks& tasks);

/// The codes of the languages of a multilingual translator; empty for all other models.
std::vector<std::string> languages_of(const Model& model);
/// Those of them that can be given for a source; empty if the model has no choice of it (OPUS-MT).
std::vector<std::string> source_languages_of(const Model& model);

}  // namespace heed::serve
