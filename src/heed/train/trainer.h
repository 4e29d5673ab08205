#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "heed/train/checkpoint.h"
#include "heed/train/machine.h"
#include "heed/train/metrics_log.h"
#include "heed/train/progress.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Trains a Transformer as section 5 of the paper does: batches of a token budget, label-smoothed
/// cross entropy, Adam with a warm-up. What is predicted from what is the task's affair. The caller
/// owns the task; the run owns its directory.
class Trainer {
 public:
  struct Options {
    bool resume = false;
    /// True once somebody wants the run to stop; asked between steps.
    std::function<bool()> stop_requested = [] { return false; };
    /// Called after every validation, with the model at hand (a report can be drawn from it).
    std::function<void(const Trainer&)> after_validation = [](const Trainer&) {};
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  };
  /// Throws Error when a resumed checkpoint cannot be read, when there is nothing to resume, or
  /// when the directory holds a run already and `resume` is false.
  Trainer(const TrainConfig& config, const Task& task, const RunDirectory& run, Options options);

  enum class Outcome { finished, stopped };
  /// Trains to the end, or until a stop is requested; a checkpoint is saved either way. Throws
  /// Error, with the last good checkpoint named, when the loss stops being a number or explodes.
  Outcome run();

  const TrainConfig& config() const { return config_; }
  const Task& task() const { return task_; }
  const model::Transformer& model() const { return *model_; }
  const TrainingState& state() const { return state_; }
  const History& history() const { return log_->history(); }
  DType dtype() const { return dtype_; }

 private:
  struct StepLoss {
    ops::Loss loss;
    StepTokens tokens;  // of all batches of a step

    /// What a speed is counted in: tokens of the decoder, or of an encoder alone.
    int64_t read() const { return tokens.decoder > 0 ? tokens.decoder : tokens.source; }
  };

  void start_fresh();
  void fit_memory();
  bool done() const;
  void plan();
  std::vector<std::vector<int64_t>> plan_of(int64_t epoch) const;
  std::vector<data::Batch> next_batches();
  StepLoss accumulate(const std::vector<data::Batch>& batches);
  void step();
  bool is_outlier(double loss, double gradient_norm);
  int64_t validated_step() const;
  double loss_since(int64_t step) const;
  void validate_and_save();
  void report(const ValidationRecord& record);
  void keep_for_average();
  void finish();
  void save_best();
  void save_last();
  double seconds() const;
  double seconds_left() const;

  TrainConfig config_;
  const Task& task_;
  RunDirectory run_;
  Options options_;
  DType dtype_;
  std::unique_ptr<model::Transformer> model_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainingState state_;
  std::unique_ptr<MetricsLog> log_;
  Progress progress_;
  std::vector<data::Lengths> lengths_;
  std::vector<std::vector<int64_t>> epoch_plan_;
  int64_t planned_epoch_ = -1;
  double peak_ = 0;                // operations per second
  double seconds_before_ = 0;      // of earlier sessions
  double validation_seconds_ = 0;  // of this session, all validations together
  int64_t first_step_ = 0;         // of this session
  double first_step_time_ = 0;
};

}  // namespace heed::train
