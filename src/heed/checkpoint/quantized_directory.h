#pragma once

#include <filesystem>
#include <string_view>

#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// The "quant_method" in config.json of a quantised directory, and the file of its weights. Other
/// programs cannot read them: they look for model.safetensors and stop.
inline constexpr std::string_view kQuantMethod = "heed";
inline constexpr std::string_view kQuantizedWeights = "quantized.safetensors";

/// Writes a model directory, which is made when missing:
/// - from the directory `original`: its config.json with the "quant_method" added, and copies of
/// all
///   files that are not weights (the tokenizer, the settings for generating and pooling);
/// - last, quantized.safetensors: the weights of `model` as it holds them, blocks included, under
///   heed's own names.
/// Throws Error when `directory` is `original`, and when something cannot be read or written.
void save_quantized(const std::filesystem::path& directory, const model::Transformer& model,
                    const std::filesystem::path& original);

}  // namespace heed::checkpoint
