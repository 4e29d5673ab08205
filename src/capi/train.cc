#include "heed/train.h"

#include <limits>

#include "capi/model.h"
#include "capi/sized.h"
#include "heed/c_train.h"

namespace heed::capi {

template <>
heed_train_options defaults<heed_train_options>() {
  return {};
}

namespace {

TrainOptions train_options(const heed_train_options& from, const HubCall& hub) {
  TrainOptions options;
  options.out = text_or_empty(from.out);
  options.preset = text_or_empty(from.preset);
  options.config = text_or_empty(from.config);
  if (from.config_name) options.config_name = from.config_name;
  for (const char* assignment : span_of(from.assignments, from.assignment_count, "assignments")) {
    require_pointer(assignment, "an assignment");
    options.assignments.emplace_back(assignment);
  }
  options.resume = from.resume != 0;
  options.executor = executor_of(from.executor);
  options.hub = hub.options();
  return options;
}

heed_train_step view_of(const StepRecord& step, int64_t planned_steps, double seconds_left) {
  return {.struct_size = sizeof(heed_train_step),
          .step = step.step,
          .epoch = step.epoch,
          .planned_steps = planned_steps,
          .seconds = step.seconds,
          .seconds_left = seconds_left,
          .loss = step.loss,
          .gradient_norm = step.gradient_norm,
          .learning_rate = step.learning_rate,
          .tokens_per_second = step.tokens_per_second,
          .skipped = step.skipped};
}

heed_validation view_of(const ValidationRecord& validation) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.struct_size = sizeof(heed_validation),
          .step = validation.step,
          .epoch = validation.epoch,
          .seconds = validation.seconds,
          .train_loss = validation.train_loss,
          .loss = validation.loss,
          .perplexity = validation.perplexity,
          .bleu = validation.bleu.value_or(kNone),
          .chrf = validation.chrf.value_or(kNone),
          .best = validation.best};
}

/// The callbacks of a run, the first of which that returns non-zero stops it.
TrainCallbacks callbacks_of(const heed_train_options& from, bool& stopped) {
  TrainCallbacks callbacks{.stop_requested = [&stopped] { return stopped; }};
  if (from.on_log)
    callbacks.on_log = [&](std::string_view line) {
      stopped = from.on_log(from.user_data, string_of(line)) != 0 || stopped;
    };
  if (from.on_step)
    callbacks.on_step = [&](const StepRecord& step, int64_t planned_steps, double seconds_left) {
      const heed_train_step view = view_of(step, planned_steps, seconds_left);
      stopped = from.on_step(from.user_data, &view) != 0 || stopped;
    };
  if (from.on_validation)
    callbacks.on_validation = [&](const ValidationRecord& validation) {
      const heed_validation view = view_of(validation);
      stopped = from.on_validation(from.user_data, &view) != 0 || stopped;
    };
  return callbacks;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_train_options)

heed_status heed_train(const heed_train_options* options, heed_error* error) {
  return run(error, [&] {
    require_pointer(options, "options");
    const heed_train_options from = read_sized(options);
    const HubCall hub(from.hub);
    const heed::TrainOptions how = train_options(from, hub);
    bool stopped = false;
    const heed::TrainResult result =
        hub.run([&] { return heed::train_model(how, callbacks_of(from, stopped)); });
    if (!result.finished) fail_cancelled();
  });
}

heed_status heed_training_config(const heed_train_options* options, char* config, size_t capacity,
                                 size_t* size, heed_error* error) {
  return run(error, [&] {
    const heed_train_options from = read_sized(options);
    const HubCall hub(from.hub);
    const heed::TrainOptions how = train_options(from, hub);
    copy_text_out(hub.run([&] { return heed::training_config(how); }), config, capacity, size);
  });
}
