#pragma once

#include <filesystem>
#include <string_view>

#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// The "quant_method" in config.json of a quantised directory, and the file of its weights. It is
/// not called model.safetensors, so that programs that cannot read it report a missing file.
inline constexpr std::string_view kQuantMethod = "heed";
inline constexpr std::string_view kQuantizedWeights = "quantized.safetensors";

/// Writes a quantised model directory, which is created if it is missing:
/// - config.json of the directory `original` with "quant_method" added, and copies of its other
///   files that are not weights (tokenizer, settings for generation and pooling);
/// - last, quantized.safetensors: the weights of `model` in their dtypes, under heed's names.
/// Throws Error when `directory` is `original`, and when a file cannot be read or written.
void save_quantized(const std::filesystem::path& directory, const model::Transformer& model,
                    const std::filesystem::path& original);

}  // namespace heed::checkpoint
