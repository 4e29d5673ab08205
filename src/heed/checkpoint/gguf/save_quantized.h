#pragma once

#include <filesystem>
#include <string>

#include "heed/io/gguf/gguf_file.h"
#include "heed/quantize/quantization.h"

namespace heed::checkpoint {

/// The metadata of a copy, in one file, whose tensors are mostly of this type.
std::string gguf_metadata_of(const io::GgufFile& original, DType dtype);

/// Writes a quantised copy of the model in a GGUF file. The metadata (configuration, tokenizer) are
/// copied, except general.file_type. Tensors are converted one at a time. Throws Error as
/// open_gguf_model() and quantized() do, when `path` is the original, and when the file cannot be
/// written (an existing file then stays intact).
void write_quantized_gguf(const std::filesystem::path& path, const std::filesystem::path& original,
                          const quantize::Quantization& how);

}  // namespace heed::checkpoint
