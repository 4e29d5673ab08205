#pragma once

#include <string>

namespace heed::cli {

/// What --help says that --model takes.
inline constexpr const char* kModelHelp =
    "Model directory, GGUF file, or OWNER/NAME[@REVISION][:FILE.gguf] of the Hugging Face hub";

struct FindOptions {
  /// Without them, only the configuration and the tokenizer of a model of the hub are downloaded.
  bool weights = true;
};

/// The path of a model that the command line names, as heed::resolve_model() finds it. Shows the
/// progress of a download on standard error; Ctrl-C ends it with an Error.
std::string find_model(const std::string& name, const FindOptions& options = {});

}  // namespace heed::cli
