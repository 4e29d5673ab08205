#pragma once

#include <string>

#include "heed/model/config.h"
#include "heed/model/stored_weight.h"

namespace heed::model {

// The names and shapes of weights in GGUF files, which are the same for most architectures: tables
// of weights as Family::stored.

/// A decoder's, or those of an encoder of the same layers. One tensor holds the same matrix of all
/// experts of a layer.
StoredWeight gguf_decoder_weight(const ModelConfig& config, const std::string& name,
                                 const Shape& shape);
/// The same where one tensor holds q_proj, k_proj and v_proj, and one both matrices of a gated
/// feed-forward network.
StoredWeight gguf_fused_decoder_weight(const ModelConfig& config, const std::string& name,
                                       const Shape& shape);
/// An encoder's with learned positions, or with rotary ones and fused matrices.
StoredWeight gguf_encoder_weight(const ModelConfig& config, const std::string& name,
                                 const Shape& shape);

}  // namespace heed::model
