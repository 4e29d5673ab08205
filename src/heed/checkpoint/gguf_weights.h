#pragma once

#include <memory>
#include <string>

#include "heed/io/gguf.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// The name and shape in a GGUF file of a decoder's weight, the same for all architectures. One
/// tensor stores GPT-2's q_proj, k_proj and v_proj, and one the same matrix of all experts of a
/// layer.
model::StoredWeight gguf_weight(const model::ModelConfig& config, const std::string& name,
                                const Shape& shape);

/// The name of the tensor that a stored tensor is a part of: newer files store DeepSeek's kv_b_proj
/// in two. For all others, `stored` itself.
std::string gguf_whole(const std::string& stored);

/// Whether a tensor of a GGUF file is not a weight: rotary frequencies, which are part of the
/// configuration.
bool gguf_redundant(std::string_view name);

/// The weights of a GGUF file with the converter's changes undone: it permutes the rows of Llama's
/// q_proj and k_proj by rotary pairs, adds 1 to Gemma's norms, splits DeepSeek's kv_b_proj, and
/// cuts RoBERTa's first positions. All other weights stay views of the file.
std::shared_ptr<const io::TensorSource> gguf_weights(std::shared_ptr<const io::GgufFile> file,
                                                     const model::ModelConfig& config);

}  // namespace heed::checkpoint
