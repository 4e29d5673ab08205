#pragma once

#include <cstdint>
#include <span>

#include "heed/model/config.h"

namespace heed::model {

/// Throws Error on a token outside the model's vocabulary.
void check_tokens(const ModelConfig& config, std::span<const int32_t> tokens);

/// The same for the input of the encoder.
void check_source_tokens(const ModelConfig& config, std::span<const int32_t> tokens);

/// Throws Error when a sequence is empty or longer than the model's context.
void check_length(const ModelConfig& config, std::span<const int32_t> sequence);

}  // namespace heed::model
