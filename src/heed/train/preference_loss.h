#pragma once

#include "heed/data/batch.h"
#include "heed/model/transformer.h"

namespace heed::train {

/// Direct preference optimisation (DPO, Rafailov et al. 2023, equation 7) of a decoder-only model
/// whose adapters are trained; without them it is the reference. For each pair of answers the loss
/// is -log sigmoid(m) with m = beta (log p(chosen) - log p(rejected) - the same of the reference);
/// both members of the result are its sum, and `tokens` is the number of pairs. With a tape,
/// records the backward pass of the sum times `gradient_scale`.
ops::Loss preference_loss(const model::Transformer& model, Context& context,
                          const data::Batch& batch, float gradient_scale);

}  // namespace heed::train
