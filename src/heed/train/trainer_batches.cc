// Trainer: how many tokens a batch has.
#include <algorithm>
#include <array>

#include "heed/base/rounding.h"
#include "heed/distribute/agree.h"
#include "heed/machine_limits.h"
#include "heed/train/token_budget.h"
#include "heed/train/trainer.h"

namespace heed::train {

/// The batches that the configuration asks for, or smaller ones: a resumed run keeps its own.
void Trainer::choose_batches() {
  RunConfig& run = config_.run;
  run.token_budget = ceil_div(run.token_budget, state_.microbatches);
  if (state_.token_budget > 0) {
    run.token_budget = state_.token_budget;
    run.gradient_accumulation_steps = state_.gradient_accumulation_steps;
  }
  fit_memory();
  if (!run_.resumed()) fit_time();
  state_.token_budget = run.token_budget;
  state_.gradient_accumulation_steps = run.gradient_accumulation_steps;
  batches_ = std::make_unique<StepBatches>(
      task_.train(),
      data::BatchOptions{
          .token_budget = run.token_budget, .seed = run.seed, .by_length = !task_.mixes_lengths()},
      state_.microbatches * run.gradient_accumulation_steps);
}

/// Splits batches into smaller ones if a full batch does not fit into memory. Batches have a
/// maximum number of tokens and no padding, so if one full batch fits, all do.
void Trainer::fit_memory() {
  RunConfig& run = config_.run;
  const int64_t fitting = smallest_of_ranks(distribute::propagate_errors(*group_, [&] {
    return token_budget_that_fits(*model_, gradients_->pass_gradients(), activation_dtype(compute_),
                                  run.token_budget, available_memory() - gradients_->extra_bytes());
  }));
  if (fitting >= run.token_budget) return;
  const int64_t parts = ceil_div(run.token_budget, fitting);
  if (run_.resumed())
    distribute::require_no_error(
        *group_, fmt::format("batches of {} tokens fit into the available memory, the run to "
                             "resume has batches of {}",
                             fitting, run.token_budget));
  observer_.log(
      fmt::format("memory: batches of {} tokens do not fit; accumulating {} batches of {} per step",
                  run.token_budget, parts * run.gradient_accumulation_steps, fitting));
  run.token_budget = fitting;
  run.gradient_accumulation_steps *= parts;
}

/// Makes batches smaller if fewer than run.min_steps steps would fit into the time.
void Trainer::fit_time() {
  RunConfig& run = config_.run;
  if (run.min_steps == 0 || run.minutes == 0 || run.gradient_accumulation_steps > 1) return;
  const double own = static_cast<double>(ceil_div(state_.microbatches, int64_t{group_->size()}));
  const double fitting = (run.minutes * 60 - seconds()) /
                         (own * seconds_of_batch(*model_, gradients_->pass_gradients(),
                                                 activation_dtype(compute_), run.token_budget));
  const auto steps = static_cast<double>(smallest_of_ranks(static_cast<int64_t>(fitting)));
  const int64_t smaller = token_budget_for_steps(run.token_budget, steps, run.min_steps);
  if (smaller == run.token_budget) return;
  observer_.log(
      fmt::format("batches: {} tokens in place of {}, so that more steps fit into {} minutes",
                  smaller, run.token_budget, run.minutes));
  run.token_budget = smaller;
}

int64_t Trainer::smallest_of_ranks(int64_t number) {
  const std::vector<double> all = group_->all_gather(std::array{static_cast<double>(number)});
  return static_cast<int64_t>(std::ranges::min(all));
}

}  // namespace heed::train
