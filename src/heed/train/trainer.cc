#include "heed/train/trainer.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/base/rounding.h"
#include "heed/train/batch_loss.h"
#include "heed/train/embedding_start.h"
#include "heed/train/machine.h"
#include "heed/train/token_budget.h"
#include "heed/train/validation.h"

namespace heed::train {
namespace {

/// Part of the remaining time that is planned for; the rest is for what cannot be foreseen.
constexpr double kPlannedShare = 0.97;
/// So many outliers one after the other are no accident.
constexpr int64_t kMostOutliersInARow = 10;

DType compute_type(const std::string& name) {
  if (name == "auto") return fastest_compute_type();
  return name == "bf16" ? DType::bf16 : DType::f32;
}

uint64_t dropout_seed(uint64_t seed, int64_t step, size_t batch) {
  return CounterRandom(seed, static_cast<uint64_t>(step)).bits(batch);
}

/// "perplexity 12.34, BLEU 23.45, chrF 45.67 (best)".
std::string scores_text(const ValidationRecord& record, bool best) {
  std::string text = fmt::format("perplexity {:.2f}", record.perplexity);
  if (record.bleu) text += fmt::format(", BLEU {:.2f}", *record.bleu);
  if (record.chrf) text += fmt::format(", chrF {:.2f}", *record.chrf);
  return text + (best ? " (best)" : "");
}

std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Trainer::Trainer(const TrainConfig& config, const Task& task, const RunDirectory& run,
                 Options options)
    : config_(config),
      task_(task),
      run_(run),
      options_(std::move(options)),
      dtype_(compute_type(config.run.compute)) {
  config_.validate();
  config_.model = task.model();
  model_ = std::make_unique<model::Transformer>(config_.model, config_.run.seed);
  optimizer_ = std::make_unique<Optimizer>(
      model_->parameters(),
      Optimizer::Settings{.beta1 = static_cast<float>(config_.optimizer.beta1),
                          .beta2 = static_cast<float>(config_.optimizer.beta2),
                          .epsilon = static_cast<float>(config_.optimizer.epsilon),
                          .weight_decay = static_cast<float>(config_.optimizer.weight_decay)});
  if (options_.resume)
    load_checkpoint(run_, {*model_, *optimizer_, state_});
  else
    start_fresh();
  seconds_before_ = state_.seconds;
  model_->parameters().zero_gradients();
  log_ = std::make_unique<MetricsLog>(run_.metrics(), state_.step, task_.sample_names());
  progress_.say(fmt::format("model: {} parameters, computing in {}", model_->parameters().count(),
                            name_of(dtype_)));
  fit_memory();
  peak_ = measure_peak(dtype_);
}

void Trainer::start_fresh() {
  require(!run_.has_checkpoint(),
          "{} holds a run already: add --resume to go on with it, or choose another --out",
          run_.root().string());
  std::filesystem::create_directories(run_.root() / "checkpoints");
  if (!config_.from.empty())
    checkpoint::load_weights(*model_, model::family_for(config_.model),
                             *io::open_model_tensors(config_.from));
  if (!config_.vocabulary.word_vectors.empty()) {
    const int64_t found = start_from_word_vectors(
        *model_, [this](int32_t token) { return task_.piece(token); },
        config_.vocabulary.word_vectors);
    progress_.say(
        fmt::format("word vectors: {} of {} pieces found", found, config_.model.vocab_size));
  }
  write_file_atomically(run_.config(), write_toml(config_));
}

/// A batch is bounded by its tokens and nothing is padded, so memory is bounded once one full batch
/// fits.
void Trainer::fit_memory() {
  const int64_t fitting =
      token_budget_that_fits(*model_, dtype_, config_.run.token_budget, available_memory());
  if (fitting >= config_.run.token_budget) return;
  const int64_t parts = ceil_div(config_.run.token_budget, fitting);
  require(!options_.resume,
          "the memory at hand fits {} tokens a batch, the run that is resumed has {}", fitting,
          config_.run.token_budget);
  progress_.say(fmt::format("memory: batches of {} tokens would not fit; taking {} batches of {}",
                            config_.run.token_budget, parts * config_.run.accumulation, fitting));
  config_.run.token_budget = fitting;
  config_.run.accumulation *= parts;
  write_file_atomically(run_.config(), write_toml(config_));
}

double Trainer::seconds() const {
  return seconds_before_ +
         std::chrono::duration<double>(std::chrono::steady_clock::now() - options_.started).count();
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
  if (run.epochs > 0 && state_.epoch >= run.epochs) return true;
  return config_.validation.patience > 0 &&
         state_.validations_since_best >= config_.validation.patience;
}

/// Decides where the run ends. A limit in minutes becomes a number of steps once the speed of steps
/// and of a validation is known; every validation corrects it, so that the rate ends in time.
void Trainer::plan() {
  const RunConfig& run = config_.run;
  int64_t steps = run.steps;
  const auto at_most = [&](int64_t other) { steps = steps > 0 ? std::min(steps, other) : other; };
  if (run.epochs > 0) {
    // Epochs differ by a batch or so; the first one stands for all, also in a resumed run.
    const auto batches = static_cast<int64_t>(plan_of(0).size());
    at_most(run.epochs * ((batches + run.accumulation - 1) / run.accumulation));
  }
  if (run.minutes > 0 && state_.step > first_step_) {
    const auto taken = static_cast<double>(state_.step - first_step_);
    const double per_step = (seconds() - first_step_time_ - validation_seconds_) / taken;
    const double validations = taken / static_cast<double>(config_.validation.every);
    const double each = per_step + validation_seconds_ / std::max(validations, 1.0) /
                                       static_cast<double>(config_.validation.every);
    // The last validation, of the average, is not paid for by any step.
    const double left = (run.minutes * 60 - seconds() - validation_seconds_) * kPlannedShare;
    at_most(state_.step + std::max<int64_t>(0, static_cast<int64_t>(left / each)));
  }
  state_.planned_steps = steps;
}

std::vector<std::vector<int64_t>> Trainer::plan_of(int64_t epoch) const {
  return data::plan_epoch(
      lengths_, {.token_budget = config_.run.token_budget, .seed = config_.run.seed}, epoch);
}

/// The batches of one step; an epoch's last step may have fewer.
std::vector<data::Batch> Trainer::next_batches() {
  if (planned_epoch_ != state_.epoch) {
    epoch_plan_ = plan_of(state_.epoch);
    planned_epoch_ = state_.epoch;
  }
  std::vector<data::Batch> batches;
  while (static_cast<int64_t>(batches.size()) < config_.run.accumulation &&
         state_.batch < static_cast<int64_t>(epoch_plan_.size()))
    batches.push_back(
        task_.train().batch(epoch_plan_[static_cast<size_t>(state_.batch++)], state_.epoch));
  if (state_.batch >= static_cast<int64_t>(epoch_plan_.size())) {
    state_.batch = 0;
    ++state_.epoch;
  }
  return batches;
}

/// The loss of all batches, their gradients added up: those of the mean over all predictions.
Trainer::StepLoss Trainer::accumulate(const std::vector<data::Batch>& batches) {
  StepLoss sum;
  for (const data::Batch& batch : batches) {
    sum.tokens.source += batch.source_tokens();
    sum.tokens.decoder += batch.decoder_tokens();
    sum.tokens.predicted += batch.target_tokens();
    sum.tokens.sequences += batch.sequences();
  }
  for (size_t i = 0; i < batches.size(); ++i) {
    Tape tape;
    Context context{.tape = &tape,
                    .dtype = dtype_,
                    .dropout_seed = dropout_seed(config_.run.seed, state_.step, i)};
    sum.loss +=
        batch_loss(*model_, context, batches[i],
                   {.label_smoothing = static_cast<float>(config_.optimizer.label_smoothing),
                    .gradient_scale = 1.0f / static_cast<float>(sum.tokens.predicted)});
    tape.backward();
  }
  return sum;
}

/// A single bad batch is skipped; a row of them, or a number that is none, ends the run.
bool Trainer::is_outlier(double loss, double gradient_norm) {
  const auto stop = [&](const std::string& what) {
    fail(
        "step {}: {}; training stopped. The last good checkpoint is {} (a lower "
        "optimizer.learning_rate or a longer optimizer.warmup_steps may help)",
        state_.step, what,
        run_.has_checkpoint() ? run_.last().string() : std::string("not made yet"));
  };
  if (!std::isfinite(loss)) stop(fmt::format("the loss is {}", loss));
  if (!std::isfinite(gradient_norm)) stop(fmt::format("the gradient's norm is {}", gradient_norm));
  const double limit = config_.optimizer.skip_outliers;
  const double z =
      std::max(state_.losses.z_score(loss), state_.gradient_norms.z_score(gradient_norm));
  if (limit > 0 && z > limit) {
    ++state_.skipped_steps;
    if (++state_.outliers_in_a_row >= kMostOutliersInARow)
      stop(
          fmt::format("the loss explodes: it is {:.3f}, the gradient's norm {:.2f}, and {} steps "
                      "in a row were outliers",
                      loss, gradient_norm, state_.outliers_in_a_row));
    progress_.say(
        fmt::format("step {}: skipped, an outlier (loss {:.3f}, gradient norm {:.2f}, "
                    "{:.1f} deviations above the mean)",
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
  const std::vector<data::Batch> batches = next_batches();
  ++state_.step;
  const StepLoss sum = accumulate(batches);
  const double loss = sum.loss.mean();
  const double norm = optimizer_->gradient_norm();
  const OptimizerConfig& o = config_.optimizer;
  const Schedule schedule{o.schedule, o.learning_rate, o.warmup, state_.planned_steps,
                          o.final_rate};
  const bool skipped = is_outlier(loss, norm);
  if (skipped)
    model_->parameters().zero_gradients();
  else
    optimizer_->step(schedule.at(state_.step), o.clip > 0 && norm > o.clip ? o.clip / norm : 1.0);
  state_.tokens += sum.read();

  const double taken = seconds() - begin;
  const StepRecord record{
      .step = state_.step,
      .epoch = epoch,
      .seconds = seconds(),
      .loss = loss,
      .gradient_norm = norm,
      .learning_rate = schedule.at(state_.step),
      .tokens_per_second = static_cast<double>(sum.read()) / taken,
      .share_of_peak = operations_of_step(model_->config(), sum.tokens) / taken / peak_,
      .skipped = skipped};
  log_->add(record);
  progress_.show(record, state_.planned_steps, seconds_left());
}

Trainer::Outcome Trainer::run() {
  lengths_ = task_.train().lengths();
  if (config_.run.minutes == 0) plan();
  if (state_.finished && done()) {
    progress_.say("the run has finished already");
    return Outcome::finished;
  }
  state_.finished = false;
  first_step_ = state_.step;
  first_step_time_ = seconds();
  while (!done()) {
    step();
    if (state_.step % config_.validation.every == 0) validate_and_save();
    if (options_.stop_requested() && !done()) {
      save_last();
      progress_.say(fmt::format("stopped at step {}, saved in {}; --resume goes on from there",
                                state_.step, run_.last().string()));
      return Outcome::stopped;
    }
  }
  finish();
  return Outcome::finished;
}

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

void Trainer::validate_and_save() {
  const double begin = seconds();
  ValidationRecord record = validate(*model_, dtype_, task_, config_);
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
  report(record);
  keep_for_average();
  validation_seconds_ += seconds() - begin;
  if (config_.run.minutes > 0) plan();
  save_last();
}

void Trainer::report(const ValidationRecord& r) {
  log_->add(r);
  progress_.say(fmt::format("step {}, epoch {}, {}: train loss {:.3f}, validation loss {:.3f}, {}",
                            r.step, r.epoch + 1, duration_text(r.seconds), r.train_loss, r.loss,
                            scores_text(r, r.best)));
  if (!r.samples.empty()) {
    const Sample& sample = r.samples[log_->history().validations.size() % r.samples.size()];
    const SampleNames names = task_.sample_names();
    for (const auto& [name, text] : {std::pair{&names.given, &sample.given},
                                     {&names.output, &sample.output},
                                     {&names.reference, &sample.reference}})
      progress_.say(fmt::format("    {:<14}{}", *name + ":", on_one_line(*text)));
  }
  options_.after_validation(*this);
}

void Trainer::keep_for_average() {
  if (config_.run.average <= 0) return;
  io::write_safetensors(run_.weights_of_step(state_.step),
                        checkpoint::stored_weights(*model_, model::family_for(model_->config())),
                        {});
  state_.averaged_steps.push_back(state_.step);
  while (static_cast<int64_t>(state_.averaged_steps.size()) > config_.run.average) {
    std::filesystem::remove(run_.weights_of_step(state_.averaged_steps.front()));
    state_.averaged_steps.erase(state_.averaged_steps.begin());
  }
}

/// Validates the last weights, then the mean of the last checkpoints; the best of all stays in the
/// root.
void Trainer::finish() {
  if (validated_step() < state_.step) validate_and_save();
  state_.finished = true;
  save_last();
  if (state_.averaged_steps.size() > 1) {
    std::vector<std::filesystem::path> files;
    for (const int64_t step : state_.averaged_steps) files.push_back(run_.weights_of_step(step));
    checkpoint::load_weights(*model_, model::family_for(model_->config()),
                             io::TensorList(average_weights(files), "the average"));
    const ValidationRecord record = validate(*model_, dtype_, task_, config_);
    const bool best = record.score() > state_.best_score;
    progress_.say(fmt::format("mean of the last {} checkpoints: {}", files.size(),
                              scores_text(record, best)));
    if (best) save_best();
  }
  progress_.say(fmt::format("done after {} steps and {}", state_.step, duration_text(seconds())));
}

void Trainer::save_best() { checkpoint::save_model(run_.root(), *model_, task_.files()); }

void Trainer::save_last() {
  state_.seconds = seconds();
  save_checkpoint(run_, {*model_, *optimizer_, state_}, task_.files());
}

}  // namespace heed::train
