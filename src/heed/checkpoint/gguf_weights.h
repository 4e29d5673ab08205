#pragma once

#include <memory>
#include <string>

#include "heed/io/gguf.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// The name and the shape of a decoder's weight in a GGUF file: one table for all architectures.
/// GPT-2's queries, keys and values are one tensor, and so is each matrix of all experts of a
/// layer.
model::StoredWeight gguf_weight(const model::ModelConfig& config, const std::string& name,
                                const Shape& shape);

/// The tensor that a stored one is a part of: newer files keep DeepSeek's map from latents to keys
/// and values in two. Of all others, the name itself.
std::string gguf_whole(const std::string& stored);

/// Whether a GGUF file may hold this tensor beside the weights: frequencies of rotary positions,
/// which belong to the configuration.
bool gguf_redundant(std::string_view name);

/// The weights of a GGUF file with the changes of its writers undone: they sort the rows of Llama's
/// queries and keys by rotary pairs, add one to Gemma's norms, and keep DeepSeek's map from latents
/// to keys and values in two tensors. All other weights stay views of the file.
std::shared_ptr<const io::TensorSource> gguf_weights(std::shared_ptr<const io::GgufFile> file,
                                                     const model::ModelConfig& config);

}  // namespace heed::checkpoint
