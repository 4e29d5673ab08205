#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// Mixtral (Jiang et al. 2024): Mistral with a mixture of experts in each layer.
Family mixtral_family();

}  // namespace heed::model
