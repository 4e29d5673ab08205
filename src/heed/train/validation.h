#pragma once

#include "heed/model/transformer.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Computes loss and perplexity on all validation examples and calls Task::evaluate(). Packs the
/// weights while it runs. Each rank of the group evaluates its share; all get the record that one
/// process would. Collective.
ValidationRecord validate(model::Transformer& model, Compute compute, const Task& task,
                          const TrainConfig& config, distribute::Group& group);

}  // namespace heed::train
