#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// Gemma (Gemma Team 2024): Llama with norms that scale by 1 + weight, gated GELU and scaled
/// embeddings.
Family gemma_family();
/// Gemma 2 (Gemma Team 2024): the same with norms before and after each sub-layer, a window in
/// every other layer, capped scores and logits.
Family gemma2_family();
/// The text models of Gemma 3 (Gemma Team 2025): the same without caps, with normalised queries and
/// keys, a window in five of six layers, and another rotary base in those layers.
Family gemma3_family();

}  // namespace heed::model
