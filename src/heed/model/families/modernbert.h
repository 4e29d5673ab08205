#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// ModernBERT (Warner et al. 2024): norms before the sub-layers, rotary positions, gated
/// feed-forward networks, and attention windows in all but every third layer.
Family modernbert_family();

}  // namespace heed::model
