#pragma once

#include "heed/distribute/group.h"
#include "heed/train.h"
#include "heed/train/checkpoints/run_directory.h"
#include "heed/train/config/config.h"
#include "heed/train/observer.h"

namespace heed::train {

/// The configuration of a new run: the preset that the options name or that suits the task, the
/// configuration of the model to start from, and what the options set. Tells the observer which
/// preset was chosen by the amount of text. Not validated. Throws Error as read_toml() and
/// set_field() do, and when the model to start from cannot be found.
TrainConfig new_config(const TrainOptions& options, Observer& observer);

/// The configuration of the resumed run, in which the options may change only when the run ends and
/// what it reports. Throws Error when they change something else.
TrainConfig resumed_config(const TrainOptions& options, const RunDirectory& run);

/// The configuration and the directory of a run, locked by this process.
struct PreparedRun {
  TrainConfig config;
  RunDirectory directory;
};

/// Begins or resumes the run. Throws Error on a configuration that is not valid, before the
/// directory of a new run is made.
/// With several ranks, rank 0 opens the directory, and the others join it with its configuration;
/// they use NCCL if that says so. Throws as distribute::use_nccl() does.
PreparedRun prepare_run(const TrainOptions& options, Observer& observer, distribute::Group& group);

}  // namespace heed::train
