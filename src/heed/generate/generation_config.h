#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "heed/generate/sampling.h"
#include "heed/model/config.h"

namespace heed::generate {

/// The settings of generation_config.json.
struct GenerationConfig {
  std::vector<int32_t> eos_ids;  // "eos_token_id", a number or a list
  int32_t forced_bos_id = -1;    // "forced_bos_token_id"; -1: none
  std::vector<int32_t> bad_ids;  // "bad_words_ids" of one token each: no output has them
  std::optional<int64_t> max_new_tokens;
  float repetition_penalty = 1.0f;
  /// For sampling: temperature (1 unless given), top-k, top-p, min-p.
  SamplingOptions sampling = {.temperature = 1.0f};
};

/// Reads generation_config.json of a model directory ("bad_words_ids" also of config.json, where
/// older files have them). Missing fields, a missing file and GGUF files
/// give the defaults; the default end tokens are those of the model's configuration. Throws Error,
/// naming the file and the field, when a value has the wrong type or is out of range.
GenerationConfig read_generation_config(const std::filesystem::path& model_path,
                                        const model::ModelConfig& config);

}  // namespace heed::generate
