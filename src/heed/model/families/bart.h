#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// BART (Lewis et al. 2019): the paper's encoder-decoder with learned positions, which begin in row
/// 2, and a norm after the embeddings.
Family bart_family();
/// mBART (Liu et al. 2020): the same with norms before the sub-layers.
Family mbart_family();
/// M2M-100 (Fan et al. 2020) and NLLB-200 (NLLB Team 2022), but not its mixtures of experts: norms
/// before the sub-layers, fairseq's sinusoids from position 2 on.
Family m2m_100_family();

}  // namespace heed::model
