#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// Phi-3 and Phi-4-mini (Microsoft, 2024): Llama with fused projections, of which a part of each
/// head may be rotated.
Family phi3_family();

}  // namespace heed::model
