#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "heed/train/checkpoints/checkpoint.h"
#include "heed/train/distributed/communication_meter.h"
#include "heed/train/metrics_log.h"
#include "heed/train/observer.h"
#include "heed/train/step_batches.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Trains a Transformer as section 5 of Vaswani et al. 2017 does: batches by token budget,
/// label-smoothed cross entropy, Adam with warmup. The task provides inputs and targets.
class Trainer {
 public:
  struct Options {
    /// Called between steps. Once it returns true, the run saves a checkpoint and stops.
    std::function<bool()> stop_requested = [] { return false; };
    std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
    /// The ranks that train together; without it, this process is alone.
    std::shared_ptr<distribute::Group> group = {};
  };
  /// Begins the run, or resumes it if `run` was opened by RunDirectory::resume(). The task and the
  /// observer must outlive this. Throws Error on an invalid configuration, on a model that its
  /// family's files cannot describe, on a checkpoint that cannot be read, and when the text or the
  /// base model of an adapter has changed since the run began; on several ranks, one throws it and
  /// the others ReportedElsewhere.
  Trainer(const TrainConfig& config, const Task& task, const RunDirectory& run, Observer& observer,
          Options options);

  enum class Outcome { finished, stopped };
  /// Trains to the end or until a stop is requested, and saves a checkpoint in both cases. Throws
  /// Error, naming the last good checkpoint, when the loss is not finite or training diverges. When
  /// a validation fails or the log cannot be written, saves a checkpoint before it throws.
  Outcome run();

  const TrainConfig& config() const { return config_; }
  const Task& task() const { return task_; }
  const RunDirectory& run_directory() const { return run_; }
  const model::Transformer& model() const { return *model_; }
  const TrainingState& state() const { return state_; }
  const History& history() const { return log_->history(); }
  Compute compute() const { return compute_; }

 private:
  void set_up();
  void build();
  void make_optimizer();
  void check_inputs();
  void begin();
  void resume();
  void choose_batches();
  void fit_memory();
  void fit_time();
  bool done() const;
  bool validates() const { return state_.step % config_.validation.eval_steps == 0; }
  enum class Next { step, stop, end };
  Next decide();
  int64_t smallest_of_ranks(int64_t number);
  void plan();
  void step();
  Outcome train();
  [[noreturn]] void fail_training(const std::string& reason) const;
  bool is_outlier(double loss, double gradient_norm);
  int64_t validated_step() const;
  double loss_since(int64_t step) const;
  ValidationRecord evaluate(const EvaluatedWeights& evaluated);
  void validate_and_save();
  void keep_for_average();
  void finish();
  void try_average();
  void save_best();
  void save_last(const EvaluatedWeights& evaluated);
  void require_log() const;
  Checkpoint checkpoint() { return {*weights_, *optimizer_, *gradients_, state_}; }
  double seconds() const;
  double seconds_left() const;

  TrainConfig config_;
  const Task& task_;
  RunDirectory run_;
  Observer& observer_;
  Options options_;
  Compute compute_;
  std::unique_ptr<model::Transformer> model_;
  std::unique_ptr<TrainedWeights> weights_;
  std::shared_ptr<distribute::Group> group_;
  std::unique_ptr<StepGradients> gradients_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainingState state_;
  std::unique_ptr<MetricsLog> log_;
  std::unique_ptr<StepBatches> batches_;
  double seconds_before_ = 0;      // of earlier sessions
  double validation_seconds_ = 0;  // spent on validations in this session
  bool stop_requested_ = false;    // in this process
  Next next_ = Next::step;         // after the current step
  CommunicationMeter meter_;
  std::optional<StepCommunication> communication_;  // of the current step
  int64_t first_step_ = 0;                          // of this session
  double first_step_time_ = 0;
};

}  // namespace heed::train
