// Trainer: validation, saving, and the end of a run.
#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/duration.h"
#include "heed/base/error.h"
#include "heed/kernels/elementwise.h"
#include "heed/model/packed_scope.h"
#include "heed/train/optimizers/weight_average.h"
#include "heed/train/trainer.h"
#include "heed/train/validation.h"
#include "heed/train/validation_text.h"

namespace heed::train {
namespace {

bool is_finite(const nn::Parameters& parameters) {
  std::vector<Tensor> values;
  for (const Parameter& parameter : parameters.all()) values.push_back(parameter.value);
  return std::isfinite(kernels::sum_of_all_squares(values));
}

}  // namespace

int64_t Trainer::validated_step() const {
  const auto& validations = log_->history().validations;
  return validations.empty() ? 0 : validations.back().step;
}

/// The mean loss of the steps after `step`, earlier sessions included.
double Trainer::loss_since(int64_t step) const {
  double sum = 0, count = 0;
  const auto& steps = log_->history().steps;
  for (auto record = steps.rbegin(); record != steps.rend() && record->step > step; ++record) {
    sum += record->loss;
    ++count;
  }
  return sum / std::max(count, 1.0);
}

/// Validates the model. If that fails, saves a checkpoint and passes the error on.
ValidationRecord Trainer::evaluate(const EvaluatedWeights& evaluated) {
  try {
    return validate(*model_, compute_, task_, config_, *group_);
  } catch (...) {
    save_last(evaluated);
    throw;
  }
}

/// The run may be killed at any moment and resumed from `last/`. Therefore files that `last/`
/// refers to are written before it, and removed only once a newer `last/` does not refer to them.
void Trainer::validate_and_save() {
  const double begin = seconds();
  const EvaluatedWeights evaluated(*optimizer_, *gradients_);
  ValidationRecord record = evaluate(evaluated);
  record.step = state_.step;
  record.epoch = state_.epoch;
  record.seconds = seconds();
  record.train_loss = loss_since(validated_step());
  record.best = record.score() > state_.best_score;
  state_.validations_since_best = record.best ? 0 : state_.validations_since_best + 1;
  if (record.best) {
    state_.best_score = record.score();
    state_.best_step = state_.step;
    save_best();
  }
  log_->add(record);
  for (const std::string& line :
       validation_text(record, task_.sample_names(), log_->history().validations.size()))
    observer_.log(line);
  keep_for_average();
  validation_seconds_ += seconds() - begin;
  if (config_.run.minutes > 0) plan();
  save_last(evaluated);
  if (group_->is_root()) run_.keep_weights_of(state_.averaged_steps);
  try {
    const model::PackedScope packed(*model_, Compute::f32);  // reports run the model in f32
    observer_.validation(*this);
  } catch (const std::exception& error) {
    observer_.log(fmt::format("warning: {}", error.what()));
  }
}

void Trainer::keep_for_average() {
  if (config_.run.average <= 0) return;
  if (group_->is_root())
    io::write_safetensors(run_.weights_of_step(state_.step), weights_->tensors(), {});
  std::vector<int64_t>& steps = state_.averaged_steps;
  if (steps.empty() || steps.back() != state_.step) steps.push_back(state_.step);
  if (std::ssize(steps) > config_.run.average)
    steps.erase(steps.begin(), steps.end() - config_.run.average);
}

/// Validates the last weights, then the mean of the last checkpoints. The best of all models is in
/// the run's root afterwards. The run is marked as finished last: a run that is killed before that
/// repeats this when resumed.
void Trainer::finish() {
  // Saves a model even if there was no time for a first step.
  if (validated_step() < state_.step || !run_.has_checkpoint()) validate_and_save();
  const auto oldest = (1.0 - config_.run.average_window) * static_cast<double>(state_.step);
  std::erase_if(state_.averaged_steps,
                [=](int64_t step) { return static_cast<double>(step) < oldest; });
  if (state_.averaged_steps.size() > 1) try_average();
  state_.finished = true;
  state_.seconds = seconds();
  if (group_->is_root()) save_state(run_, checkpoint());
  require_log();
  observer_.log(fmt::format("done after {} steps and {}", state_.step, duration_text(seconds())));
}

/// Replaces the weights by the mean of the last checkpoints; saves it as the best model if it is.
void Trainer::try_average() {
  std::vector<std::filesystem::path> files;
  for (const int64_t step : state_.averaged_steps) files.push_back(run_.weights_of_step(step));
  group_->all_gather(std::array{0.0});  // a barrier, until rank 0 has written them
  weights_->set(io::TensorList(average_weights(files), "the average"));
  const ValidationRecord record = validate(*model_, compute_, task_, config_, *group_);
  const bool best = record.score() > state_.best_score;
  observer_.log(
      fmt::format("mean of the last {} checkpoints: {}", files.size(), scores_text(record, best)));
  if (best) save_best();
}

void Trainer::save_best() {
  if (group_->is_root()) weights_->save(run_.root(), task_.files());
}

/// Throws Error when the weights are not finite: they must not replace a good checkpoint.
void Trainer::save_last(const EvaluatedWeights& evaluated) {
  if (!is_finite(weights_->parameters())) fail_training("the weights are not finite");
  state_.seconds = seconds();
  log_->sync();
  save_checkpoint(run_, checkpoint(), evaluated, task_.files(), *group_);
}

/// Throws Error when a record could not be written to the log. There must be a checkpoint.
void Trainer::require_log() const {
  if (log_->problem().empty()) return;
  fail("{}; --resume continues the run from {}", log_->problem(), run_.last().string());
}

}  // namespace heed::train
