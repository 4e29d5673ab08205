#include "heed/train/config/run_length.h"

#include <algorithm>

#include "heed/base/rounding.h"

namespace heed::train {
namespace {

/// The fraction of the remaining time that is planned; the rest is a reserve.
constexpr double kPlannedFraction = 0.97;
/// More steps than any run has. Avoids an overflow if a step takes almost no time.
constexpr double kMaxPlannedSteps = 1e15;

/// How many steps fit into the time that is left.
int64_t steps_in_time(const TrainConfig& config, const Pace& pace) {
  const auto timed = static_cast<double>(pace.steps_timed);
  const auto every = static_cast<double>(config.validation.eval_steps);
  const double validation = pace.validating / std::max(timed / every, 1.0);
  const double each = pace.stepping / timed + validation / every;
  // After the last step, the averaged checkpoints are validated too.
  const double left = (config.run.minutes * 60 - pace.elapsed - validation) * kPlannedFraction;
  if (left <= 0) return 0;
  return static_cast<int64_t>(left < each * kMaxPlannedSteps ? left / each : kMaxPlannedSteps);
}

}  // namespace

int64_t planned_steps(const TrainConfig& config, int64_t batches, const Pace& pace) {
  const RunConfig& run = config.run;
  int64_t steps = run.max_steps;
  const auto at_most = [&](int64_t other) { steps = steps > 0 ? std::min(steps, other) : other; };
  if (run.num_train_epochs > 0)
    at_most(run.num_train_epochs * ceil_div(batches, run.gradient_accumulation_steps));
  if (run.minutes > 0 && pace.steps_timed > 0) at_most(pace.step + steps_in_time(config, pace));
  return steps;
}

}  // namespace heed::train
