#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/command.h"
#include "cli/options/options.h"
#include "heed/model.h"
#include "heed/model_tasks.h"

namespace heed::cli {

/// The model that a command runs and how it is loaded.
struct ModelOptions {
  std::string path;
  LoadOptions load;
  std::vector<std::string> adapters;  // see find_adapters()
  std::string draft;                  // of speculative decoding; see find_model()
};

/// Adds --model, --adapter, --weights, --compute, --device, --random-weights,
/// --rope-context and --weight-cache. `by_position`: --model may be given without its name.
void add_model_options(Command& command, ModelOptions& options, bool by_position = true);

/// Adds --compute, which sets `compute`; auto: nothing.
void add_compute_option(Command& command, std::optional<Compute>& compute, const std::string& help);

/// Adds --speculate, --draft and --draft-weights, and returns them.
std::vector<Option> add_speculation_options(Command& command, ModelOptions& options);

/// The model, which computes on `threads`.
Model load_model(const ModelOptions& options, const Threads& threads);
/// The same. Throws Error, as Model::require_task() does, unless the model is of a kind for the
/// task.
Model load_model(const ModelOptions& options, const Threads& threads, bool ModelTasks::*task);

/// Adds --source-language and --target-language, for multilingual translators.
void add_language_options(Command& command, std::string& source, std::string& target);

/// Adds --shortlist, for translators.
void add_shortlist_option(Command& command, ModelOptions& options);

/// Adds --cache, the type of the kv cache.
Option add_cache_option(Command& command, ModelOptions& options);

}  // namespace heed::cli
