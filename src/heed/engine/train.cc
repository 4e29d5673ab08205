#include "heed/train.h"

#include <chrono>
#include <exception>
#include <optional>

#include "heed/base/directory_lock.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/engine/system_errors.h"
#include "heed/inspect/report/run_report.h"
#include "heed/train/checkpoints/checkpoint.h"
#include "heed/train/config/run_config.h"
#include "heed/train/distributed/ranks.h"
#include "heed/train/trainer.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

void write_report(const train::Trainer& trainer) {
  write_file_atomically(trainer.run_directory().report(),
                        inspect::training_report(inspect::report_of(trainer)));
}

/// Tells the callbacks what happens. Their first exception is kept, so that the run can save a
/// checkpoint first.
class CallbackObserver : public train::Observer {
 public:
  explicit CallbackObserver(const TrainCallbacks& callbacks) : callbacks_(callbacks) {}

  void log(const std::string& line) override {
    guarded([&] {
      if (callbacks_.on_log) callbacks_.on_log(line);
    });
  }

  void step(const StepRecord& record, int64_t planned_steps, double seconds_left) override {
    guarded([&] {
      if (callbacks_.on_step) callbacks_.on_step(record, planned_steps, seconds_left);
    });
  }

  void validation(const train::Trainer& trainer) override {
    guarded([&] {
      if (callbacks_.on_validation) callbacks_.on_validation(trainer.history().validations.back());
    });
    write_report(trainer);
  }

  bool stop_requested() {
    bool asked = false;
    guarded([&] { asked = callbacks_.stop_requested && callbacks_.stop_requested(); });
    return asked || exception_;
  }

  /// Throws the exception of a callback, if there was one.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  template <typename Call>
  void guarded(const Call& call) {
    if (exception_) return;
    try {
      call();
    } catch (...) {
      exception_ = std::current_exception();
    }
  }

  const TrainCallbacks& callbacks_;
  std::exception_ptr exception_;
};

/// Calls `train` on a rank. An error may be one of rank 0 alone, such as a full disk; most errors
/// of steps are found by all ranks at once. Rank 0 reports either, and tells the others, which wait
/// for that.
template <typename Call>
auto on_rank(distribute::Group& group, const Call& train) {
  try {
    return train();
  } catch (const distribute::RankMissing&) {
    throw;
  } catch (const ReportedElsewhere&) {
    throw;
  } catch (const Error& error) {
    if (group.is_root()) {
      group.report_failure();
      throw;
    }
    if (distribute::is_reported_elsewhere(group)) throw ReportedElsewhere(error.what());
    throw;
  }
}

TrainResult run(const TrainOptions& options, const TrainCallbacks& callbacks) {
  const auto started = Clock::now();
  TrainCallbacks rank_callbacks = callbacks;
  CallbackObserver observer(rank_callbacks);
  const auto stop_requested = [&observer] { return observer.stop_requested(); };
  // Locked until the ranks have parted: `heed launch` takes a run whose directory is free for over.
  std::optional<train::RunDirectory> locked;
  const std::shared_ptr<distribute::Group> group = train::join_ranks(options, stop_requested);
  if (!group->is_root()) rank_callbacks = {.stop_requested = callbacks.stop_requested};
  const auto [config, directory] = train::prepare_run(options, observer, *group);
  locked = directory;
  const std::unique_ptr<train::Task> task = distribute::propagate_errors(*group, [&] {
    // Only rank 0 makes the directory.
    const bool present = path_exists(directory.root());
    return train::prepare_task(config, train::vocabulary_source(config, directory), observer,
                               present ? directory.root() : std::filesystem::path());
  });
  train::require_same_inputs(config, *task, *group);
  observer.log("configuration:\n" + train::write_toml(config));
  observer.rethrow();
  train::Trainer trainer(config, *task, directory, observer,
                         {.stop_requested = stop_requested, .started = started, .group = group});
  return on_rank(*group, [&] {
    TrainResult result{.finished = trainer.run() == train::Trainer::Outcome::finished,
                       .rank = group->rank(),
                       .model = directory.root(),
                       .report = directory.report()};
    observer.rethrow();
    if (result.finished && group->is_root()) write_report(trainer);
    return result;
  });
}

/// Returns call(), computed on the executor of the options.
template <typename Call>
auto on_executor(const TrainOptions& options, const Call& call) {
  return engine::with_system_errors([&] {
    const auto executor = options.executor ? options.executor : Executor::shared();
    const ExecutorScope scope(*executor);
    return call();
  });
}

}  // namespace

TrainResult train_model(const TrainOptions& options, const TrainCallbacks& callbacks) {
  return distribute::waiting_for_report(
      [&] { return on_executor(options, [&] { return run(options, callbacks); }); });
}

std::vector<std::string> training_presets() { return train::preset_names(); }

std::string training_config(const TrainOptions& options) {
  return on_executor(options, [&] {
    train::Observer silent;
    const train::TrainConfig config = train::new_config(options, silent);
    config.validate();
    return train::write_toml(config);
  });
}

std::optional<LastCheckpoint> last_checkpoint(const std::filesystem::path& out) {
  return engine::with_system_errors([&]() -> std::optional<LastCheckpoint> {
    const auto run = train::RunDirectory::join(out, false);
    if (!run.has_checkpoint()) return std::nullopt;
    const train::TrainingState state = train::read_state(run);
    return LastCheckpoint{.step = state.step, .leaves = state.microbatches};
  });
}

void finish_killed_run(const std::filesystem::path& out) {
  engine::with_system_errors([&] {
    const DirectoryLock lock(out);
    finish_replacement(train::RunDirectory::join(out, false).last());
  });
}

}  // namespace heed
