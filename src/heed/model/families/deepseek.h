#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// DeepSeek-V2 and V2-Lite (2024): Llama's blocks with multi-head latent attention and, from some
/// layer on, mixtures of experts.
Family deepseek_v2_family();
/// DeepSeek-V3 (2024): the same with a router of sigmoids and a bias for the selection. The layers
/// that predict further tokens are not supported.
Family deepseek_v3_family();

}  // namespace heed::model
