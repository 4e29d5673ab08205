#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/generate/sampling.h"
#include "heed/model/transformer.h"

namespace heed::generate {

/// What a masked token may be.
struct FilledMask {
  int64_t position = 0;                // in the tokens
  std::vector<TokenProbability> best;  // most probable first
};

/// The `top` most probable tokens for each `mask_id` among `tokens`, by an encoder that was trained
/// to find them. Throws Error when there is no mask or the model has no head for it.
std::vector<FilledMask> fill_masks(const model::Transformer& model, std::span<const int32_t> tokens,
                                   int32_t mask_id, int64_t top);

}  // namespace heed::generate
