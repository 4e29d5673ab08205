#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// GPT-NeoX and Pythia (Black et al. 2022): attention and feed-forward network read the same input;
/// a part of each head is rotated.
Family gpt_neox_family();

}  // namespace heed::model
