#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/generate/sampling.h"
#include "heed/generate/token_rules.h"
#include "heed/io/model_files.h"
#include "heed/model/config.h"

namespace heed::generate {

/// The settings of generation_config.json.
struct GenerationConfig {
  TokenRules rules;     // its end tokens are the model's unless the file has others
  int32_t bos_id = -1;  // "bos_token_id"; -1: that of config.json
  std::optional<int64_t> max_new_tokens;
  std::optional<int64_t> max_length;  // of prompt and output, unless max_new_tokens is given
  /// For sampling: temperature (1 unless given), top_k, ...; the repetition penalty of `rules`.
  SamplingOptions sampling = {.temperature = 1.0f};
  bool names_temperature = false;      // whether the temperature is the file's
  std::optional<bool> do_sample = {};  // whether outputs are to be sampled, if the file says so
  /// Why outputs cannot be sampled: a setting that heed does not apply. Empty: they can.
  std::string sampling_refusal;
  /// What the file has that heed ignores although it may matter.
  std::vector<std::string> warnings;
};

/// Reads generation_config.json of a model directory or, if there is none, the same settings of
/// config.json, where older models have them, or what a GGUF file recommends. Missing fields and
/// files give the defaults. Throws Error, naming the file and the field, when a value has the wrong
/// type or is out of range, and on a setting that would change outputs and that heed does not
/// apply: docs/models.md lists which settings are applied, which are ignored and which are refused.
GenerationConfig read_generation_config(const io::ModelFiles& files,
                                        const model::ModelConfig& config);

}  // namespace heed::generate
