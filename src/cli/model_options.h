#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options.h"
#include "heed/model.h"

namespace heed::cli {

/// The model that a command runs and how it is loaded.
struct ModelOptions {
  std::string path;
  LoadOptions load;
  std::vector<std::string> adapters;  // see parse_adapter()
};

/// "DIR" or "DIR=SCALE"; the whole text is the directory unless a number follows its last "=".
AdapterOptions parse_adapter(const std::string& text);
std::vector<AdapterOptions> parse_adapters(const std::vector<std::string>& texts);
inline constexpr const char* kAdapterHelp =
    "DIR[=SCALE]: LoRA adapter of the model, as heed train --lora or Python's peft writes it "
    "(repeatable: "
    "their sum); =SCALE is a factor of what it adds";

/// Adds --model, --adapter, --weights, --compute, --random-weights and --rope-context. `bf16` is
/// false for commands that compute activations in f32 only.
void add_model_options(Command& command, ModelOptions& options, bool bf16 = true);

/// The model, which computes on `threads`.
Model load_model(const ModelOptions& options, const Threads& threads);

/// Adds --cache, the type of the kv cache.
Option add_cache_option(Command& command, ModelOptions& options);

}  // namespace heed::cli
