#include "heed/train/checkpoints/trained_weights.h"

#include <algorithm>

#include "heed/checkpoint/module_pattern.h"
#include "heed/train/checkpoints/dense_modules.h"

namespace heed::train {
namespace {

std::vector<io::NamedTensor> tensors_of(const io::TensorSource& source) {
  std::vector<io::NamedTensor> all;
  for (const std::string& name : source.names()) all.push_back({name, source.get(name)});
  return all;
}

}  // namespace

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
  save_dense_modules(directory, model_);
}

std::vector<io::NamedTensor> WholeModel::tensors() const {
  std::vector<io::NamedTensor> all =
      checkpoint::stored_weights(model_, model::family_for(model_.config()));
  for (io::NamedTensor& tensor : dense_tensors(model_)) all.push_back(std::move(tensor));
  return all;
}

std::shared_ptr<const io::TensorSource> WholeModel::open(
    const std::filesystem::path& directory) const {
  const std::shared_ptr<const io::TensorSource> weights = io::open_model_tensors(directory);
  std::vector<io::NamedTensor> beside = read_dense_modules(directory, model_);
  if (beside.empty()) return weights;
  std::vector<io::NamedTensor> all = tensors_of(*weights);
  for (io::NamedTensor& tensor : beside) all.push_back(std::move(tensor));
  return std::make_shared<io::TensorList>(std::move(all), weights->name());
}

void WholeModel::set(const io::TensorSource& tensors) {
  const model::Family& family = model::family_for(model_.config());
  const std::vector<io::NamedTensor> beside = dense_tensors(model_);
  if (beside.empty()) return checkpoint::load_weights(model_, family, tensors);
  set_dense_modules(model_, tensors);
  std::vector<io::NamedTensor> others = tensors_of(tensors);
  std::erase_if(others, [&](const io::NamedTensor& tensor) {
    return std::ranges::find(beside, tensor.name, &io::NamedTensor::name) != beside.end();
  });
  checkpoint::load_weights(model_, family, io::TensorList(std::move(others), tensors.name()));
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
