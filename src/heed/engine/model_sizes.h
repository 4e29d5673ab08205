#pragma once

#include <cstdint>

#include "heed/model/transformer.h"
#include "heed/tensor/dtype.h"

namespace heed::engine {

/// The tokens for which memory is estimated if nobody says how many, unless the model reads fewer.
inline constexpr int64_t kDefaultContext = 8192;

/// Bytes of all parameters when matrices are of a type.
int64_t weight_bytes(const model::Transformer& model, DType dtype);
/// Bytes of the kv cache per token.
int64_t cache_bytes_per_token(const model::Transformer& model, DType dtype);
/// In tokens; 0: not limited.
int64_t context_length(const model::ModelConfig& config);

}  // namespace heed::engine
