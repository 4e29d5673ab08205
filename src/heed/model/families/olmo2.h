#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// OLMo 2 (Team OLMo 2024): Llama with norms of each sub-layer's output instead of its input, and
/// of queries and keys over all heads.
Family olmo2_family();

}  // namespace heed::model
