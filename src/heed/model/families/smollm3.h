#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// SmolLM3 (Hugging Face, 2025): Llama without positions in every fourth layer.
Family smollm3_family();

}  // namespace heed::model
