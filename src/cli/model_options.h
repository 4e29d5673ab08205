#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "heed/format/model_directory.h"
#include "heed/text/tokenizer.h"

namespace heed::cli {

/// Which model a command runs, and in which precision.
struct ModelOptions {
  std::string path, weights = "stored";
  std::optional<uint64_t> random_weights;
};

/// Adds --model, --weights and --random-weights.
void add_model_options(CLI::App& app, ModelOptions& options);

std::unique_ptr<model::Transformer> load_model(const ModelOptions& options);

/// The tokenizer of the model, checked against its vocabulary. Throws Error when there is none.
text::Tokenizer load_tokenizer(const ModelOptions& options, const model::Transformer& model);

}  // namespace heed::cli
