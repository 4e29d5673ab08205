// Trainer: validation, saving, and the end of a run.
#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/duration.h"
#include "heed/base/error.h"
#include "heed/distribute/agree.h"
#include "heed/kernels/elementwise.h"
#include "heed/model/packed_scope.h"
#include "heed/train/batch_loss.h"
#include "heed/train/optimizers/weight_average.h"
#include "heed/train/trainer.h"

namespace heed::train {
namespace {

bool is_finite(const nn::Parameters& parameters) {
  std::vector<Tensor> values;
  for (const Parameter& parameter : parameters.all()) values.push_back(parameter.value);
  return std::isfinite(kernels::sum_of_all_squares(values));
}

constexpr size_t kNumbers = 3;  // of a loss

/// The losses of the batches that are this rank's, zeros for those of others.
std::vector<double> own_losses(const model::Transformer& model, Compute compute,
                               const data::Dataset& examples, const TrainConfig& config,
                               const distribute::Group& group) {
  Context context{.dtype = activation_dtype(compute)};
  const data::BatchOptions options{.token_budget = config.run.token_budget};
  const auto batches = data::plan_batches(examples.lengths(), options, 0);
  std::vector<double> numbers(kNumbers * batches.size());
  const auto size = static_cast<size_t>(group.size());
  for (size_t i = static_cast<size_t>(group.rank()); i < batches.size(); i += size) {
    const ops::Loss loss = batch_loss(
        model, context, examples.batch(batches[i], 0),
        {.label_smoothing = static_cast<float>(config.optimizer.label_smoothing_factor)});
    numbers[kNumbers * i] = loss.smoothed;
    numbers[kNumbers * i + 1] = loss.negative_log_likelihood;
    numbers[kNumbers * i + 2] = static_cast<double>(loss.tokens);
  }
  return numbers;
}

/// The loss of all batches, added in their order.
ops::Loss loss_of(const std::vector<double>& own, distribute::Group& group) {
  const std::vector<double> all = group.all_gather(own);
  ops::Loss sum;
  for (size_t i = 0; kNumbers * i < own.size(); ++i) {
    const size_t rank = i % static_cast<size_t>(group.size());
    const double* const loss = all.data() + rank * own.size() + kNumbers * i;
    sum += {loss[0], loss[1], static_cast<int64_t>(loss[2])};
  }
  return sum;
}

/// Computes loss and perplexity on all validation examples and calls Task::evaluate(). Packs the
/// weights while it runs. Each rank of the group evaluates its share; all get the record that one
/// process would. Collective.
ValidationRecord validate(model::Transformer& model, Compute compute, const Task& task,
                          const TrainConfig& config, distribute::Group& group) {
  ValidationRecord record;
  const model::PackedScope packed(model, compute);
  const ops::Loss loss =
      loss_of(distribute::propagate_errors(
                  group, [&] { return own_losses(model, compute, task.valid(), config, group); }),
              group);
  record.loss = loss.mean();
  record.perplexity = loss.perplexity();
  task.evaluate(model, compute, group, record);
  return record;
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// "perplexity 12.34, BLEU 23.45, chrF 45.67, en-de 24.56, en-fr 22.34 (best)", or the metrics of
/// the task.
std::string scores_text(const ValidationRecord& record, bool best) {
  if (!record.metrics.empty()) {
    std::vector<std::string> metrics;
    for (const auto& [name, value] : record.metrics)
      metrics.push_back(fmt::format("{} {:.4f}", name, value));
    return fmt::format("{}{}", fmt::join(metrics, ", "), best ? " (best)" : "");
  }
  std::string text = fmt::format("perplexity {:.2f}", record.perplexity);
  if (record.bleu) text += fmt::format(", BLEU {:.2f}", *record.bleu);
  if (record.chrf) text += fmt::format(", chrF {:.2f}", *record.chrf);
  for (const DirectionScores& one : record.directions)
    text += fmt::format(", {} {:.2f}", one.languages, one.bleu);
  return text + (best ? " (best)" : "");
}

/// The lines to show for a validation: losses, scores, and sample `turn` modulo their number.
std::vector<std::string> validation_text(const ValidationRecord& r, const SampleNames& names,
                                         size_t turn) {
  std::vector<std::string> lines{fmt::format(
      "step {}, epoch {}, {}: train loss {:.3f}, validation loss {:.3f}, {}", r.step, r.epoch + 1,
      duration_text(r.seconds), r.train_loss, r.loss, scores_text(r, r.best))};
  if (r.samples.empty()) return lines;
  const Sample& sample = r.samples[turn % r.samples.size()];
  for (const auto& [name, text] : {std::pair{&names.input, &sample.input},
                                   {&names.output, &sample.output},
                                   {&names.reference, &sample.reference}})
    lines.push_back(fmt::format("    {:<14}{}", *name + ":", on_one_line(*text)));
  return lines;
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
  record.best = state_.best_step == 0 || record.score() > state_.best_score;
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
  if (!group_->is_root()) return;
  std::vector<checkpoint::NamedFile> files = task_.files();
  for (checkpoint::NamedFile& file : task_.evaluated_files()) files.push_back(std::move(file));
  weights_->save(run_.root(), files);
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
