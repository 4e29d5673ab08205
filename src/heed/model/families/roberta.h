#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// RoBERTa (Liu et al. 2019): BERT whose positions are counted from behind the padding token's
/// number and whose head always has a GELU.
Family roberta_family();

}  // namespace heed::model
