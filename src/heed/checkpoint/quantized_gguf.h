#pragma once

#include <filesystem>

#include "heed/quantize/quantization.h"

namespace heed::checkpoint {

/// Writes a quantised copy of the model that a GGUF file holds; all that its metadata says
/// (configuration, tokenizer) is taken over as it is, but for the type of the file. One tensor at a
/// time is converted. Throws Error as open_gguf_model() and quantized() do, when `path` is the
/// original, and when the disk is full (an old file is then untouched).
void write_quantized_gguf(const std::filesystem::path& path, const std::filesystem::path& original,
                          const quantize::Quantization& how);

}  // namespace heed::checkpoint
