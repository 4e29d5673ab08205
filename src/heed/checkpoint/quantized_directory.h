#pragma once

#include <filesystem>
#include <string_view>

#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// What config.json of a quantised directory has as its "quant_method", and the file of its
/// weights: other programs, which could not read them, look for model.safetensors and stop.
inline constexpr std::string_view kQuantMethod = "heed";
inline constexpr std::string_view kQuantizedWeights = "quantized.safetensors";

/// Writes into `directory`, which is made when missing: the weights of `model` as it holds them,
/// blocks included, under heed's own names in quantized.safetensors; and of the model directory
/// `original` its config.json, with a note of how the weights are kept, and copies of all that is
/// not weights (the tokenizer, what it says of generating and pooling). The weights come last.
/// Throws Error when `directory` is `original`, and when something cannot be read or written.
void save_quantized(const std::filesystem::path& directory, const model::Transformer& model,
                    const std::filesystem::path& original);

}  // namespace heed::checkpoint
