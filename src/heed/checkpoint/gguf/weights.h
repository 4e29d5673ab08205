#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/io/gguf/gguf_file.h"
#include "heed/model/config.h"

namespace heed::checkpoint {

/// The name of the tensor that a stored tensor is a part of: newer files store DeepSeek's kv_b_proj
/// in two. For all others, `stored` itself.
std::string gguf_whole(const std::string& stored);

/// Whether a tensor of a GGUF file is not a weight: rotary frequencies, which are part of the
/// configuration.
bool gguf_redundant(std::string_view name);

/// The weights of a GGUF file with the converter's changes undone: it puts the rows of q_proj and
/// k_proj that are rotated together next to each other (`in_pairs`), adds 1 to norms with a unit
/// offset, splits kv_b_proj, and cuts positions that no token has. All other weights stay views of
/// the file.
std::shared_ptr<const io::TensorSource> gguf_weights(std::shared_ptr<const io::GgufFile> file,
                                                     const model::ModelConfig& config,
                                                     bool in_pairs);

/// A tensor of a GGUF file that a tensor of the table becomes.
struct GgufPart {
  std::string name;
  Shape shape;
};

/// The inverse, for files to be written: the tensors that hold one of this name and shape, itself
/// or the two parts of kv_b_proj; and the values of one of them, given those of the whole, f32.
std::vector<GgufPart> gguf_parts(const std::string& stored, const Shape& shape,
                                 const model::ModelConfig& config);
Tensor gguf_part(const GgufPart& part, const Tensor& whole, const model::ModelConfig& config,
                 bool in_pairs);

}  // namespace heed::checkpoint
