#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "heed/generate/sampling.h"
#include "heed/model/config.h"

namespace heed::generate {

/// What a model's makers suggest for generating with it (generation_config.json).
struct GenerationConfig {
  std::vector<int32_t> end_ids;  // "eos_token_id", a number or a list
  int32_t forced_first_id = -1;  // "forced_bos_token_id"; -1: none
  std::optional<int64_t> max_new_tokens;
  float repetition_penalty = 1.0f;
  /// Of those who sample: temperature (1 unless given), top-k, top-p, min-p.
  SamplingOptions sampling = {.temperature = 1.0f};
};

/// Reads generation_config.json of a model directory; where there is none (nor in a GGUF file), and
/// for what it leaves out, the end token is that of the model's configuration. Throws Error naming
/// the file and the field when one is of the wrong type or out of range.
GenerationConfig read_generation_config(const std::filesystem::path& model_path,
                                        const model::ModelConfig& config);

}  // namespace heed::generate
