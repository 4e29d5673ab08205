#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// DistilBERT (Sanh et al. 2019): BERT without segments and pooler.
Family distilbert_family();

}  // namespace heed::model
