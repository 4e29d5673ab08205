#pragma once

#include <string>
#include <vector>

#include "heed/adapter.h"

namespace heed::cli {

/// The help of --model.
inline constexpr const char* kModelHelp =
    "Model directory, GGUF file, or [OWNER/]NAME[@REVISION][:FILE.gguf] of the Hugging Face hub";

struct FindOptions {
  /// Without them, only the configuration and the tokenizer of a model of the hub are downloaded.
  bool weights = true;
};

/// What to type where a model is missing, and the models in the cache, in lines.
std::string model_choices();

/// The path of a model that the command line names, as heed::resolve_model() finds it. Shows the
/// progress of a download on standard error; Ctrl-C ends it with an Error.
std::string find_model(const std::string& name, const FindOptions& options = {});

/// The help of --adapter.
inline constexpr const char* kAdapterHelp =
    "DIR[=SCALE], FILE.gguf[=SCALE] or OWNER/NAME[@REVISION][=SCALE] of the Hugging Face hub: LoRA "
    "adapter of the model, as heed train --lora, Python's peft or llama.cpp writes it (repeatable: "
    "their sum); =SCALE is a factor of what it adds";

/// The adapters that the command line names, found as models are. The whole text is the name
/// unless a number follows its last "=".
std::vector<AdapterOptions> find_adapters(const std::vector<std::string>& texts);

}  // namespace heed::cli
