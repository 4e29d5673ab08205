#include "heed/train/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "heed/base/duration.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/names.h"
#include "heed/distribute/agree.h"
#include "heed/train/checkpoints/dense_modules.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/config/run_length.h"
#include "heed/train/distributed/machine.h"
#include "heed/train/step_loss.h"

namespace heed::train {
namespace {

/// This many consecutive outliers mean that training diverges.
constexpr int64_t kMaxOutliersInARow = 10;
/// In this time every step updates the plan of the run, later only validations do.
constexpr double kPlanningSeconds = 30;

/// Numbers that are rounded to 8 bits would lose some of these in bf16.
Compute compute_of(const RunConfig& run) {
  if (run.compute == "auto") return run.quantization_aware ? Compute::f32 : fastest_compute();
  return named(run.compute, std::array{Compute::f32, Compute::bf16});
}

/// Token embeddings that passes only look up rows of.
std::vector<const Parameter*> only_looked_up(const model::Transformer& model) {
  std::vector<const Parameter*> tables;
  for (const Parameter& parameter : model.parameters().all())
    if (parameter.role == WeightRole::token_embedding && !model.is_multiplied_with(parameter))
      tables.push_back(&parameter);
  return tables;
}

/// Vectors do not depend on the head that a decoder keeps.
void freeze_head(model::Transformer& model) {
  for (Parameter& parameter : model.parameters().all())
    if (parameter.role == WeightRole::head || parameter.role == WeightRole::head_transform)
      parameter.trainable = false;
}

/// Throws Error, naming the difference, unless the text is the one that the run began with.
void require_same_text(const DataFingerprint& began, const DataFingerprint& now, TaskKind task) {
  const char* unit = reads_pairs(task) ? "pairs" : "documents";
  for (const auto& [what, then, found] : {std::tuple{"training", began.training, now.training},
                                          {"validation", began.validation, now.validation}})
    require(then == found,
            "the {} text has changed since the run began: {} {} then, {} now{} (to train the model "
            "on another text, begin a new run with --from)",
            what, then.count, unit, found.count,
            then.count == found.count ? " with other content" : "");
}

}  // namespace

Trainer::Trainer(const TrainConfig& config, const Task& task, const RunDirectory& run,
                 Observer& observer, Options options)
    : config_(config),
      task_(task),
      run_(run),
      observer_(observer),
      options_(std::move(options)),
      compute_(compute_of(config.run)),
      group_(options_.group ? options_.group : std::make_shared<distribute::Group>()),
      meter_(*group_) {
  distribute::propagate_errors(*group_, [this] {
    set_up();
    return true;
  });
  seconds_before_ = state_.seconds;
  observer_.log(fmt::format("model: {} parameters, computing in {}", model_->parameters().count(),
                            name_of(compute_)));
  if (config_.lora.enabled)
    observer_.log(fmt::format("adapter: {} parameters, of rank {}", weights_->parameters().count(),
                              config_.lora.rank));
  choose_batches();
}

/// The part of the construction that is not collective.
void Trainer::set_up() {
  config_.validate();
  config_.model = task_.model();
  build();
  make_optimizer();
  if (run_.resumed())
    resume();
  else
    begin();
}

/// Makes the optimizer and the gradients. A resumed run keeps its number of microbatches.
void Trainer::make_optimizer() {
  const int ranks = group_->size();
  const OptimizerKind kind = config_.optimizer.name;
  state_.microbatches =
      run_.resumed() ? read_state(run_).microbatches : config_.distributed.microbatches_on(ranks);
  require(
      ranks <= state_.microbatches, "the run has {} ranks, but its steps have {} microbatches{}",
      ranks, state_.microbatches,
      run_.resumed() ? ", as when it began" : ": distributed.leaves can be a larger power of two");
  if (ranks > 1)
    observer_.log(fmt::format("ranks: {}, which share {} microbatches a step{}", ranks,
                              state_.microbatches,
                              distribute::is_bitwise_reproducible(ranks, state_.microbatches)
                                  ? ""
                                  : "; the bits are those of this number of ranks"));
  gradients_ = make_step_gradients(
      weights_->parameters(), *group_,
      {.microbatches = state_.microbatches,
       .keep_matrices = kind == OptimizerKind::muon || kind == OptimizerKind::soap,
       .only_looked_up = only_looked_up(*model_),
       .pass_dtype = activation_dtype(compute_)});
  optimizer_ = std::make_unique<Optimizer>(
      gradients_->parts(),
      Optimizer::Settings{.kind = kind,
                          .beta1 = static_cast<float>(config_.optimizer.adam_beta1),
                          .beta2 = static_cast<float>(config_.optimizer.adam_beta2),
                          .epsilon = static_cast<float>(config_.optimizer.adam_epsilon),
                          .weight_decay = static_cast<float>(config_.optimizer.weight_decay),
                          .muon_momentum = static_cast<float>(config_.optimizer.muon_momentum),
                          .muon_iterations = static_cast<int>(config_.optimizer.muon_iterations),
                          .muon_dtype = activation_dtype(compute_),
                          .soap_beta1 = static_cast<float>(config_.optimizer.soap_beta1),
                          .soap_beta2 = static_cast<float>(config_.optimizer.soap_beta2),
                          .soap_frequency = config_.optimizer.soap_frequency,
                          .soap_max_dim = config_.optimizer.soap_max_dim});
}

/// Makes the model and the weights of it that are trained.
void Trainer::build() {
  if (!config_.lora.enabled) {
    model_ = std::make_unique<model::Transformer>(config_.model, config_.run.seed);
    model::family_for(model_->config());  // throws if the model cannot be saved
    add_dense_modules(*model_, task_.dense_modules());
    weights_ = std::make_unique<WholeModel>(*model_);
    if (config_.run.task == TaskKind::embed && model_->has_decoder()) freeze_head(*model_);
    return;
  }
  model_ = std::make_unique<model::Transformer>(config_.model, std::nullopt);
  checkpoint::load_stored_weights(*model_, config_.from);
  add_dense_modules(*model_, task_.dense_modules());
  load_dense_modules(task_.dense_modules(), *model_);
  weights_ = std::make_unique<TrainedAdapter>(*model_, config_);
}

/// Records fingerprints of the text and the base model. Throws Error if a resumed run began with
/// others.
void Trainer::check_inputs() {
  const DataFingerprint text = task_.fingerprint();
  if (state_.data) require_same_text(*state_.data, text, config_.run.task);
  state_.data = text;
  if (!config_.lora.enabled) return;
  const data::Fingerprint base = fingerprint_of(*model_);
  if (state_.base) require_same_base(*state_.base, base, config_.from);
  state_.base = base;
}

void Trainer::begin() {
  check_inputs();
  log_ = std::make_unique<MetricsLog>(run_.metrics(), 0, task_.sample_names(), group_->is_root());
  if (!config_.lora.enabled) load_initial_weights(config_, task_, *model_, observer_);
  if (!group_->is_root()) return;
  write_file_atomically(run_.config(), write_toml(config_));
  if (const std::string report = task_.filter_report(); !report.empty())
    write_file_atomically(run_.filtered(), report);
}

void Trainer::resume() {
  load_checkpoint(run_, checkpoint());
  check_inputs();
  std::erase_if(state_.averaged_steps, [this](int64_t step) {
    const std::filesystem::path file = run_.weights_of_step(step);
    const bool missing = !path_exists(file);
    if (missing)
      observer_.log(
          fmt::format("warning: {} is missing, so it is left out of the average", file.string()));
    return missing;
  });
  log_ = std::make_unique<MetricsLog>(run_.metrics(), state_.step, task_.sample_names(),
                                      group_->is_root());
}

double Trainer::seconds() const {
  return seconds_before_ + seconds_between(options_.started, std::chrono::steady_clock::now());
}

double Trainer::seconds_left() const {
  const int64_t taken = state_.step - first_step_;
  if (taken <= 0) return 0;
  return (seconds() - first_step_time_) / static_cast<double>(taken) *
         static_cast<double>(state_.planned_steps - state_.step);
}

bool Trainer::done() const {
  const RunConfig& run = config_.run;
  if (state_.planned_steps > 0 && state_.step >= state_.planned_steps) return true;
  if (run.minutes > 0 && seconds() > run.minutes * 60) return true;
  if (run.num_train_epochs > 0 && state_.epoch >= run.num_train_epochs) return true;
  return config_.validation.early_stopping_patience > 0 &&
         state_.validations_since_best >= config_.validation.early_stopping_patience;
}

/// Sets the last step. With a limit in minutes, each step of the first half minute and then every
/// validation updates the estimate, so that the learning rate schedule ends in time.
void Trainer::plan() {
  // The number of batches per epoch varies by about one. That of the first is used for all, so that
  // a resumed run gets the same plan.
  state_.planned_steps =
      planned_steps(config_, config_.run.num_train_epochs > 0 ? batches_->count(0) : 0,
                    {.step = state_.step,
                     .steps_timed = state_.step - first_step_,
                     .elapsed = seconds(),
                     .stepping = seconds() - first_step_time_ - validation_seconds_,
                     .validating = validation_seconds_});
}

void Trainer::fail_training(const std::string& reason) const {
  fail(
      "step {}: {}; training stopped. {} (a lower optimizer.learning_rate or more "
      "optimizer.warmup_steps may help)",
      state_.step, reason,
      run_.has_checkpoint() ? "The last good checkpoint is " + run_.last().string()
                            : "There is no checkpoint yet");
}

/// Whether the step is an outlier, which is skipped. Throws Error when the loss or the gradient is
/// not finite, and after too many consecutive outliers.
bool Trainer::is_outlier(double loss, double gradient_norm) {
  // NaN has a sign, which says nothing.
  for (const auto& [name, value] : {std::pair{"loss", loss}, {"gradient norm", gradient_norm}})
    if (!std::isfinite(value))
      fail_training(fmt::format("the {} is {}", name, std::isnan(value) ? std::abs(value) : value));
  const double limit = config_.optimizer.skip_outliers;
  const double z =
      std::max(state_.losses.z_score(loss), state_.gradient_norms.z_score(gradient_norm));
  if (limit > 0 && z > limit) {
    ++state_.skipped_steps;
    if (++state_.outliers_in_a_row >= kMaxOutliersInARow)
      fail_training(fmt::format(
          "training diverges: loss {:.3f}, gradient norm {:.2f}, {} consecutive outliers", loss,
          gradient_norm, state_.outliers_in_a_row));
    observer_.log(
        fmt::format("step {}: skipped as an outlier (loss {:.3f}, gradient norm {:.2f}, "
                    "{:.1f} standard deviations above the mean)",
                    state_.step, loss, gradient_norm, z));
    return true;
  }
  state_.outliers_in_a_row = 0;
  state_.losses.add(loss);
  state_.gradient_norms.add(gradient_norm);
  return false;
}

void Trainer::step() {
  const double begin = seconds();
  const int64_t epoch = state_.epoch;
  const std::vector<data::Batch> batches = batches_->next(state_.epoch, state_.batch);
  ++state_.step;
  const OptimizerConfig& o = config_.optimizer;
  meter_.begin_passes();
  const StepLoss sum = gradients_->accumulate(
      *model_, batches,
      {.dtype = activation_dtype(compute_),
       .label_smoothing = static_cast<float>(o.label_smoothing_factor),
       .alignment_weight = static_cast<float>(config_.guided_alignment.weight),
       .rounds_to_int8 = config_.run.quantization_aware,
       .seed = config_.run.seed,
       .step = state_.step,
       .gradient_accumulation_steps = config_.run.gradient_accumulation_steps});
  meter_.end_passes();
  const double loss = sum.loss.mean();
  const double norm = gradients_->norm();
  if (!group_->alone()) {
    // Before the all-gather of the weights begins, so that it does not wait for it.
    if (!validates()) stop_requested_ = options_.stop_requested();
    next_ = decide();
  }
  const Schedule schedule = o.schedule(state_.planned_steps);
  const bool skipped = is_outlier(loss, norm);
  if (skipped) {
    gradients_->discard();
  } else {
    optimizer_->step(gradients_->take(), schedule.at(state_.step),
                     o.max_grad_norm > 0 && norm > o.max_grad_norm ? o.max_grad_norm / norm : 1.0);
    gradients_->begin_all_gather();
  }
  state_.tokens += sum.tokens_read();

  const double taken = seconds() - begin;
  const StepRecord record{.step = state_.step,
                          .epoch = epoch,
                          .seconds = seconds(),
                          .loss = loss,
                          .gradient_norm = norm,
                          .learning_rate = schedule.at(state_.step),
                          .tokens_per_second = static_cast<double>(sum.tokens_read()) / taken,
                          .skipped = skipped,
                          .communication = communication_};
  log_->add(record);
  observer_.step(record, state_.planned_steps, seconds_left());
}

/// What all ranks do after the step. Rank 0's clock decides when the run ends and how many steps
/// are planned. A request to stop on any rank, or a log that it cannot write, stops all.
Trainer::Next Trainer::decide() {
  const bool stop = stop_requested_ || !log_->problem().empty();
  std::vector<double> own = meter_.take();
  own.insert(own.end(),
             {stop ? 1.0 : 0.0, done() ? 1.0 : 0.0, static_cast<double>(state_.planned_steps)});
  const std::vector<double> all = group_->all_gather(own);
  std::vector<std::vector<double>> of_ranks;
  for (auto rank = all.begin(); rank != all.end(); rank += std::ssize(own))
    of_ranks.emplace_back(rank, rank + std::ssize(own));
  if (!group_->alone()) communication_ = communication_of(of_ranks);
  constexpr size_t kStop = CommunicationMeter::kFigures, kDone = kStop + 1, kPlan = kStop + 2;
  state_.planned_steps = static_cast<int64_t>(of_ranks[0][kPlan]);
  if (of_ranks[0][kDone] > 0) return Next::end;
  return std::ranges::any_of(of_ranks, [](const auto& rank) { return rank[kStop] > 0; })
             ? Next::stop
             : Next::step;
}

Trainer::Outcome Trainer::run() {
  try {
    return train();
  } catch (const distribute::RankMissing& missing) {
    throw distribute::RankMissing(fmt::format(
        "{}, at step {}; {}", missing.what(), state_.step,
        run_.has_checkpoint() ? fmt::format("last checkpoint: step {}", read_state(run_).step)
                              : "there is no checkpoint yet"));
  }
}

Trainer::Outcome Trainer::train() {
  if (config_.run.minutes == 0) plan();
  if (state_.finished && done()) {
    observer_.log("the run has already finished");
    return Outcome::finished;
  }
  state_.finished = false;
  first_step_ = state_.step;
  first_step_time_ = seconds();
  for (next_ = decide(); next_ != Next::end;) {
    if (next_ == Next::stop) {
      save_last(EvaluatedWeights(*optimizer_, *gradients_));
      require_log();
      observer_.log(fmt::format("stopped at step {}, saved in {}; continue with --resume",
                                state_.step, run_.last().string()));
      return Outcome::stopped;
    }
    step();
    if (config_.run.minutes > 0 && seconds() - first_step_time_ < kPlanningSeconds) plan();
    if (validates()) validate_and_save();
    if (validates() || group_->alone()) {
      stop_requested_ = options_.stop_requested();
      next_ = decide();
    }
  }
  finish();
  return Outcome::finished;
}

}  // namespace heed::train
