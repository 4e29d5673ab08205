#pragma once

#include <vector>

#include "heed/data/text_group_dataset.h"
#include "heed/model/transformer.h"
#include "heed/train/config/config.h"

namespace heed::train {

/// Adds to each group, a query and its document, the documents of other groups that `model` finds
/// nearest to the query: embed.hard_negatives of them. Left out are documents of the same query and
/// those whose cosine is above embed.hard_negative_ratio times that of the group's own document,
/// which probably answer the query, too (Moreira et al. 2024). `options` says how vectors are
/// made, which have `width` numbers.
void add_hard_negatives(const EmbedConfig& config, const model::Transformer& model,
                        const data::VectorLossOptions& options, int64_t width,
                        std::vector<data::TextGroup>& groups);

}  // namespace heed::train
