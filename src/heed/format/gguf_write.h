#pragma once

#include <filesystem>

#include "heed/format/gguf.h"
#include "heed/format/weights.h"

namespace heed::format {

/// Writes a copy of a GGUF file whose matrices are kept in another precision; all that its metadata
/// says (configuration, tokenizer) is taken over as it is, but for the type of the file. One tensor
/// at a time is converted. Throws Error on a tensor of a type that heed does not have, when `path`
/// is the original, and when the disk is full (an old file is then untouched).
void write_quantized_gguf(const std::filesystem::path& path, const GgufFile& original,
                          WeightPrecision precision);

}  // namespace heed::format
