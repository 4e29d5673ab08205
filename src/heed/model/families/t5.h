#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// T5 (Raffel et al. 2020): an encoder-decoder with relative positions, RMSNorm before the
/// sub-layers, no biases and no scaling of the scores; version 1.1 has gated feed-forward networks
/// and a head of its own.
Family t5_family();
/// mT5 (Xue et al. 2020): version 1.1 with a vocabulary of many languages.
Family mt5_family();

}  // namespace heed::model
