#pragma once

#include <functional>
#include <memory>

#include "heed/distribute/agree.h"
#include "heed/train.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// The ranks of a distributed run: those that a launcher has started, if the options ask for it,
/// otherwise this process alone. Throws Error as distribute::mpi_transport() does.
std::shared_ptr<distribute::Group> join_ranks(const TrainOptions& options,
                                              std::function<bool()> stop_requested);

/// Throws Error, naming the rank, when one has another build of heed, configuration, text or
/// vocabulary than rank 0; ReportedElsewhere on the other ranks. Collective.
void require_same_inputs(const TrainConfig& config, const Task& task, distribute::Group& group);

}  // namespace heed::train
