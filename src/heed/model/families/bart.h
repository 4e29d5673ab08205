#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// BART (Lewis et al. 2019): the paper's encoder-decoder with learned positions, which begin in row
/// 2, and a norm after the embeddings.
Family bart_family();

}  // namespace heed::model
