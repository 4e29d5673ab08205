#include "heed/train/checkpoints/trained_weights.h"

#include "heed/checkpoint/module_pattern.h"
#include "heed/train/checkpoints/token_projection.h"

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
  if (const Parameter* const projection = find_token_projection(model_))
    io::write_safetensors(directory / kProjectionFolder / "model.safetensors",
                          {{kProjectionTensor, projection->value}}, {{"format", "pt"}});
}

std::vector<io::NamedTensor> WholeModel::tensors() const {
  std::vector<io::NamedTensor> all =
      checkpoint::stored_weights(model_, model::family_for(model_.config()));
  if (const Parameter* const projection = find_token_projection(model_))
    all.push_back({kProjectionTensor, projection->value});
  return all;
}

std::shared_ptr<const io::TensorSource> WholeModel::open(
    const std::filesystem::path& directory) const {
  const std::shared_ptr<const io::TensorSource> weights = io::open_model_tensors(directory);
  if (find_token_projection(model_) == nullptr) return weights;
  std::vector<io::NamedTensor> all = tensors_of(*weights);
  all.push_back({kProjectionTensor,
                 io::open_model_tensors(directory / kProjectionFolder)->get(kProjectionTensor)});
  return std::make_shared<io::TensorList>(std::move(all), weights->name());
}

void WholeModel::set(const io::TensorSource& tensors) {
  const model::Family& family = model::family_for(model_.config());
  Parameter* const projection = find_token_projection(model_);
  if (projection == nullptr) return checkpoint::load_weights(model_, family, tensors);
  projection->value = tensors.get(kProjectionTensor).clone();
  std::vector<io::NamedTensor> others = tensors_of(tensors);
  std::erase_if(others,
                [](const io::NamedTensor& tensor) { return tensor.name == kProjectionTensor; });
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
