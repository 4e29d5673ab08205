#pragma once

#include "heed/data/text_groups.h"
#include "heed/train/config/config.h"

namespace heed::train {

/// Throws Error on a setting of embed that is out of range, and on one that the loss does not have.
void check_embed(const TrainConfig& config);

/// Throws Error on a setting of embed that vectors of this kind do not have, and on a loss that
/// does not train them.
void check_embed_kind(const EmbedConfig& embed, data::VectorKind kind);

}  // namespace heed::train
