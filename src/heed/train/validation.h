#pragma once

#include "heed/model/transformer.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Loss and perplexity on all of the validation examples, and what the task adds to them. Packs the
/// weights for its time.
ValidationRecord validate(model::Transformer& model, Compute compute, const Task& task,
                          const TrainConfig& config);

}  // namespace heed::train
