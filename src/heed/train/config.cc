#include "heed/train/config.h"

#include <algorithm>
#include <tuple>

#include "heed/base/error.h"
#include "heed/checkpoint/model_directory.h"

namespace heed::train {
namespace {

void require_at_least(std::string_view name, double value, double least) {
  require(value >= least, "{} is {}, expected at least {}", name, value, least);
}

/// The stacks that a task trains.
void check_task(TaskKind task, const model::ModelConfig& model) {
  const bool encoder = task != TaskKind::causal_lm, decoder = task != TaskKind::masked_lm;
  for (const auto& [wanted, layers, stack] : {std::tuple{encoder, model.encoder_layers, "encoder"},
                                              {decoder, model.decoder_layers, "decoder"}})
    require(wanted == (layers > 0), "the task {} trains a model {} {}, model.{}_layers is {}",
            name_of(task), wanted ? "with an" : "without", stack, stack, layers);
  require(model.has_head, "the task {} predicts tokens, the model has no head for that",
          name_of(task));
}

}  // namespace

std::string_view name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::translation:
      return "translation";
    case TaskKind::text_to_text:
      return "text-to-text";
    case TaskKind::causal_lm:
      return "causal-lm";
    case TaskKind::masked_lm:
      return "masked-lm";
  }
  return "?";
}

int64_t TrainConfig::window_tokens() const {
  return run.context > 0 ? run.context : std::min(model.max_positions, run.token_budget);
}

void describe_start(TrainConfig& config) {
  config.model = checkpoint::describe_model(config.from)->config();
}

void TrainConfig::validate() const {
  model::ModelConfig sized = model;
  if (sized.vocab_size == 0) sized.vocab_size = vocabulary.size;  // not known yet
  sized.validate();
  check_task(run.task, model);
  require(vocabulary.kind == "bpe" || vocabulary.kind == "unigram",
          "vocabulary.kind is \"{}\", expected bpe or unigram", vocabulary.kind);
  require(run.compute == "auto" || run.compute == "f32" || run.compute == "bf16",
          "run.compute is \"{}\", expected auto, f32 or bf16", run.compute);
  require_at_least("data.held_out", static_cast<double>(data.held_out), 1);
  require_at_least("data.max_tokens", static_cast<double>(data.max_tokens), 1);
  require_at_least("data.max_ratio", data.max_ratio, 1);
  require_at_least("vocabulary.size", static_cast<double>(vocabulary.size), 8);
  require_at_least("optimizer.learning_rate", optimizer.learning_rate, 0);
  require_at_least("optimizer.warmup_steps", static_cast<double>(optimizer.warmup), 0);
  require_at_least("optimizer.max_grad_norm", optimizer.clip, 0);
  require_at_least("optimizer.skip_outliers", optimizer.skip_outliers, 0);
  require(optimizer.final_rate >= 0 && optimizer.final_rate <= 1,
          "optimizer.min_lr_rate is {}, expected 0 to 1", optimizer.final_rate);
  require_at_least("optimizer.weight_decay", optimizer.weight_decay, 0);
  require(optimizer.label_smoothing >= 0 && optimizer.label_smoothing < 1,
          "optimizer.label_smoothing_factor is {}, expected at least 0 and below 1",
          optimizer.label_smoothing);
  for (const auto& [name, beta] :
       {std::pair{"adam_beta1", optimizer.beta1}, {"adam_beta2", optimizer.beta2}})
    require(beta >= 0 && beta < 1, "optimizer.{} is {}, expected at least 0 and below 1", name,
            beta);
  require_at_least("run.token_budget", static_cast<double>(run.token_budget), 16);
  require_at_least("run.gradient_accumulation_steps", static_cast<double>(run.accumulation), 1);
  require(run.context >= 0 && run.context <= model.max_positions,
          "run.context is {}, expected 0 to model.max_position_embeddings, which is {}",
          run.context, model.max_positions);
  require_at_least("run.average", static_cast<double>(run.average), 0);
  require(run.steps >= 0 && run.epochs >= 0 && run.minutes >= 0,
          "run.max_steps, run.num_train_epochs and run.minutes are limits, expected at least 0");
  require(run.steps > 0 || run.epochs > 0 || run.minutes > 0 || validation.patience > 0,
          "nothing would end the run: set run.max_steps, run.num_train_epochs, run.minutes or "
          "validation.early_stopping_patience");
  require_at_least("validation.eval_steps", static_cast<double>(validation.every), 1);
  require_at_least("validation.sentences", static_cast<double>(validation.sentences), 1);
  require_at_least("validation.num_beams", static_cast<double>(validation.beam), 1);
}

}  // namespace heed::train
