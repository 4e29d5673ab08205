#pragma once

#include <string>
#include <vector>

#include "cli/options/options.h"
#include "heed/generation.h"

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

/// Adds --json-schema, --regex, --grammar and --choice, and returns them.
std::vector<Option> add_structured_output_options(Command& command, SamplingArguments& arguments);

/// Adds --sample, --temperature, --top-k, --top-p, --min-p, penalties, --logit-bias and --stop, and
/// returns them.
std::vector<Option> add_sampling_options(Command& command, SamplingArguments& arguments);

}  // namespace heed::cli
