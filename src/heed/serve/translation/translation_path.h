#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/serve/model_registry.h"

namespace heed::serve {

/// How the models that are loaded translate one language into another: one model, or two with a
/// language between.
struct TranslationPath {
  std::string first, second;  // names of models; no second one: the first translates alone
  std::string via;            // the language between, in two letters; empty: none

  bool is_direct() const { return second.empty(); }
};

/// The path from `source` into `target`, which are languages in two letters or as a model calls
/// them: the first model that has both, else the first two with a language between, where English
/// is preferred; nothing if there is none. `via`, unless it is empty, is the language between.
std::optional<TranslationPath> translation_path(const std::vector<ModelRegistry::ModelInfo>& models,
                                                const std::string& source,
                                                const std::string& target,
                                                const std::string& via = {});

/// Whether a model translates.
bool translates(const ModelRegistry::ModelInfo& model);
/// Whether `codes` have a language, in two letters or as it stands there.
bool has_language(const std::vector<std::string>& codes, const std::string& language);

}  // namespace heed::serve
