#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// GPT-2 (Radford et al. 2019): pre-norm LayerNorm, learned positions, biases everywhere, a tied
/// head. Its matrices are stored transposed, and q, k and v as one.
Family gpt2_family();

}  // namespace heed::model
