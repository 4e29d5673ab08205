#pragma once

#include "heed/data/batch.h"
#include "heed/model/transformer.h"

namespace heed::train {

/// The loss of a batch: what the model's last stack makes of it, against what is to be predicted.
/// With a tape, the beginning of the backward pass.
/// The batch is of the kind that the model reads.
ops::Loss batch_loss(const model::Transformer& model, Context& context, const data::Batch& batch,
                     const kernels::CrossEntropyOptions& options);

}  // namespace heed::train
