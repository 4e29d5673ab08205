#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// Granite 3 (IBM, 2024): Llama with factors of the embeddings, of the attention scores, of what
/// each sub-layer adds, and of the logits.
Family granite_family();

}  // namespace heed::model
