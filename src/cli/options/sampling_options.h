#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"
#include "heed/generation.h"
#include "heed/model.h"

namespace heed::cli {

/// How outputs are sampled, as the command line says it.
struct SamplingArguments {
  GenerateOptions generate;
  std::vector<std::string> logit_bias;  // "ID:BIAS"
  std::string json_schema, grammar;     // files

  /// `generate` with the biases and the contents of the files. `seed` is that of --seed.
  GenerateOptions options(uint64_t seed) const;
};

/// Adds --max-new-tokens; --help ends with `standard`, which says what holds without it.
void add_max_new_tokens(Command& command, SamplingArguments& arguments, const char* standard);

/// Adds --json-schema, --white-space, --regex, --grammar and --choice.
void add_structured_output_options(Command& command, SamplingArguments& arguments);

/// Compiles what outputs are to match, and warns of the keywords of a JSON Schema that assert
/// nothing.
void prepare_output(const Model& model, const GenerateOptions& options);

/// Adds --sample, --temperature, --top-k, --top-p, --min-p, penalties, --logit-bias and --stop, and
/// returns them.
std::vector<Option> add_sampling_options(Command& command, SamplingArguments& arguments);

}  // namespace heed::cli
