#pragma once

#include "heed/model/transformer.h"
#include "heed/train/dataset.h"
#include "heed/train/events.h"

namespace heed::train {

/// Loss and perplexity on all of the validation pairs, BLEU and chrF of real translations of the
/// first `validation.sentences`, and a few of these to look at. Packs the weights for its time.
ValidationRecord validate(model::Transformer& model, DType dtype, const Dataset& dataset,
                          const TrainConfig& config);

}  // namespace heed::train
