#pragma once

#include <filesystem>

#include "heed/generate/generation_config.h"

namespace heed::generate {

/// Reads what a GGUF file recommends: suppressed tokens and the settings of sampling
/// ("general.sampling."), which llama.cpp's converter takes from generation_config.json. Throws
/// Error, naming file and key, on a value of the wrong type or out of range.
void read_gguf_settings(const std::filesystem::path& file, int64_t vocab_size,
                        GenerationConfig& config);

}  // namespace heed::generate
