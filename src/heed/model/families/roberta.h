#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// RoBERTa (Liu et al. 2019): BERT, but positions begin after pad_token_id, and the head always
/// uses GELU.
Family roberta_family();

}  // namespace heed::model
