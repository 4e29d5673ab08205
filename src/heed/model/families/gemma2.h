#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// Gemma 2 (Gemma Team 2024): norms before and after each sub-layer that scale by 1 + weight, every
/// other layer with a window, capped scores and logits, gated GELU, scaled embeddings.
Family gemma2_family();

}  // namespace heed::model
