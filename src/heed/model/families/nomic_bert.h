#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// The text encoders of Nomic (Nussbaum et al. 2024): BERT with rotary positions, gated
/// feed-forward networks and few biases.
Family nomic_bert_family();

}  // namespace heed::model
