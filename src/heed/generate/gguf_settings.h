#pragma once

#include <string>

#include "heed/generate/generation_config.h"
#include "heed/io/gguf/metadata.h"
#include "heed/io/gguf/write.h"

namespace heed::generate {

/// Reads what a GGUF file named `file` recommends: suppressed tokens and the settings of sampling
/// ("general.sampling."), which llama.cpp's converter takes from generation_config.json. Throws
/// Error, naming file and key, on a value of the wrong type or out of range.
void read_gguf_settings(const io::GgufMetadata& metadata, const std::string& file,
                        int64_t vocab_size, GenerationConfig& config);

/// The inverse: sets the keys of what differs from the defaults. Other settings have none.
void write_gguf_settings(const GenerationConfig& config, io::GgufValues& metadata);

}  // namespace heed::generate
