#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/fill.h"
#include "heed/model/transformer.h"

namespace heed::tasks {

using heed::FilledMask;

/// The `top` most probable tokens for each `mask_id` among `tokens`, predicted by a masked language
/// model with activations of type `dtype`. Throws Error unless the model is encoder-only and has a
/// language model head, when there is no mask, and as checked_logits() does.
std::vector<FilledMask> fill_masks(const model::Transformer& model, std::span<const int32_t> tokens,
                                   int32_t mask_id, int64_t top, DType dtype = DType::f32);

}  // namespace heed::tasks
