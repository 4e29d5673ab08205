#pragma once

#include <array>
#include <optional>

#include "tests/distribute/group_ranks.h"
#include "tests/train/tiny_run.h"

namespace heed::train::testing {

/// A run on ranks, which are threads here.
inline void train_on_ranks(int ranks, const TrainConfig& config, const TemporaryDirectory& folder,
                           const std::string& out) {
  const auto one = [&](distribute::Group& group) {
    std::optional<RunDirectory> run;
    if (group.is_root()) run = RunDirectory::begin(folder / out);
    group.all_gather(std::array{0.0});
    if (!run) run = RunDirectory::join(folder / out, false);
    const auto task = task_of(config, config.from);
    Observer silent;
    const std::shared_ptr<distribute::Group> shared(std::shared_ptr<void>(), &group);
    Trainer(config, *task, *run, silent, {.group = shared}).run();
  };
  distribute::run_groups(std::make_shared<distribute::LocalMailbox>(ranks), one);
}

/// Expects that a run on several ranks ends with the bits of one.
inline void expect_same_bits_on_ranks(TrainConfig config, const TemporaryDirectory& folder,
                                      std::initializer_list<const char*> files) {
  config.distributed.leaves = 4;
  config.run.max_steps = 6;
  config.validation.eval_steps = 3;
  train_on_ranks(1, config, folder, "1");
  for (const int ranks : {2, 4}) {
    const std::string out = std::to_string(ranks);
    train_on_ranks(ranks, config, folder, out);
    for (const char* file : files)
      EXPECT_EQ(read_file(folder / "1" / file), read_file(folder / out / file)) << out << file;
  }
}

/// Expects that a run that was stopped and resumed ends with the bits of one that was not. Returns
/// its steps.
inline std::vector<StepRecord> expect_same_bits_resumed(const TrainConfig& config,
                                                        const TemporaryDirectory& folder,
                                                        std::initializer_list<const char*> files) {
  const auto prepared = task_of(config, config.from);
  Observer silent;
  Trainer trainer(config, *prepared, RunDirectory::begin(folder / "whole"), silent, {});
  trainer.run();
  train(config, folder, "parts", {.stop_requested = stop_after(13)});
  train(config, folder, "parts", {.resume = true});
  for (const char* file : files)
    EXPECT_EQ(read_file(folder / "whole" / file), read_file(folder / "parts" / file)) << file;
  return trainer.history().steps;
}

}  // namespace heed::train::testing
