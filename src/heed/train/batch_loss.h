#pragma once

#include "heed/data/batch.h"
#include "heed/model/transformer.h"

namespace heed::train {

/// Runs the model's stacks on a batch and returns the cross entropy of the predictions at
/// `batch.rows`, or at every row of the last stack if that is empty; of pairs of answers, the loss
/// of direct preference optimisation (DPO); of labels, label_loss(); of texts that are compared,
/// vector_loss() of these. With a tape, records the
/// backward pass. The batch must have the inputs of the model's stacks. If it has alignments,
/// `alignment_weight` times the alignment_loss() of the first head of the last decoder layer is
/// added to `smoothed`.
ops::Loss batch_loss(const model::Transformer& model, Context& context, const data::Batch& batch,
                     const kernels::CrossEntropyOptions& options, float alignment_weight = 0);

}  // namespace heed::train
