#include "heed/train/config/renamed_keys.h"

#include "heed/base/renamed.h"
#include "heed/model/renamed_fields.h"

namespace heed::train {
namespace {

constexpr Renamed kKeys[] = {
    {"optimizer.schedule", "optimizer.lr_scheduler_type"},
    {"optimizer.warmup", "optimizer.warmup_steps"},
    {"optimizer.final_rate", "optimizer.min_lr_rate"},
    {"optimizer.beta1", "optimizer.adam_beta1"},
    {"optimizer.beta2", "optimizer.adam_beta2"},
    {"optimizer.epsilon", "optimizer.adam_epsilon"},
    {"optimizer.clip", "optimizer.max_grad_norm"},
    {"optimizer.label_smoothing", "optimizer.label_smoothing_factor"},
    {"run.accumulation", "run.gradient_accumulation_steps"},
    {"run.steps", "run.max_steps"},
    {"run.epochs", "run.num_train_epochs"},
    {"validation.every", "validation.eval_steps"},
    {"validation.beam", "validation.num_beams"},
    {"validation.patience", "validation.early_stopping_patience"},
};

}  // namespace

std::string current_key(const std::string& key) {
  constexpr std::string_view kModel = "model.";
  if (!key.starts_with(kModel)) return std::string(current_of(key, kKeys));
  const std::string_view field = model::current_name(std::string_view(key).substr(kModel.size()));
  return field.empty() ? "" : std::string(kModel).append(field);
}

}  // namespace heed::train
