#include "heed/train/checkpoints/trained_weights.h"

#include "heed/checkpoint/module_pattern.h"

namespace heed::train {

WholeModel::WholeModel(model::Transformer& model) : model_(model) {
  if (model.config().family.empty()) return;
  const model::Family& family = model::family_for(model.config());
  if (family.buffer == nullptr) return;
  for (Parameter& parameter : model.parameters().all())
    if (family.buffer(parameter.name)) parameter.trainable = false;
}

void WholeModel::save(const std::filesystem::path& directory,
                      const std::vector<checkpoint::NamedFile>& tokenizer_files) const {
  checkpoint::save_model(directory, model_, tokenizer_files);
}

std::vector<io::NamedTensor> WholeModel::tensors() const {
  return checkpoint::stored_weights(model_, model::family_for(model_.config()));
}

std::shared_ptr<const io::TensorSource> WholeModel::open(
    const std::filesystem::path& directory) const {
  return io::open_model_tensors(directory);
}

void WholeModel::set(const io::TensorSource& tensors) {
  checkpoint::load_weights(model_, model::family_for(model_.config()), tensors);
}

TrainedAdapter::TrainedAdapter(model::Transformer& model, const TrainConfig& config)
    : model_(model),
      config_{.base_model = config.from,
              .rank = config.lora.rank,
              .alpha = config.lora.alpha,
              .rslora = config.lora.use_rslora,
              .dropout = static_cast<float>(config.lora.dropout)},
      adapter_(config.run.seed) {
  for (Parameter& parameter : model_.parameters().all()) parameter.trainable = false;
  adapter_.set_dropout(config_.dropout);
  for (const model::LinearModule& module : checkpoint::select_modules(
           model_, {.modules = config.lora.target_modules, .layers = config.lora.layers}))
    adapter_.add(module, config_.rank, config_.scale_of(module.name, config_.rank));
  model_.attach({{&adapter_.updates()}});
}

void TrainedAdapter::save(const std::filesystem::path& directory,
                          const std::vector<checkpoint::NamedFile>&) const {
  checkpoint::save_adapter(directory, model_, adapter_, config_);
}

std::vector<io::NamedTensor> TrainedAdapter::tensors() const {
  return checkpoint::adapter_tensors(adapter_);
}

std::shared_ptr<const io::TensorSource> TrainedAdapter::open(
    const std::filesystem::path& directory) const {
  return checkpoint::open_adapter_tensors(directory);
}

void TrainedAdapter::set(const io::TensorSource& tensors) {
  checkpoint::set_adapter_tensors(adapter_, tensors);
}

}  // namespace heed::train
