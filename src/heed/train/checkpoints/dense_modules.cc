#include "heed/train/checkpoints/dense_modules.h"

#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/as_f32.h"

namespace heed::train {
namespace {

constexpr std::string_view kWeight = "linear.weight", kBias = "linear.bias";

/// The parameters of modules, weights before biases.
template <typename Model>
auto parameters_of(Model& model) {
  std::vector<decltype(&model.parameters().all().front())> found;
  for (auto& parameter : model.parameters().all())
    if (parameter.role == WeightRole::dense_module) found.push_back(&parameter);
  return found;
}

/// The folder of a parameter and its name there.
std::pair<std::string, std::string> place_of(const Parameter& parameter) {
  const size_t folder = parameter.name.rfind(".linear.");
  return {parameter.name.substr(0, folder), parameter.name.substr(folder + 1)};
}

}  // namespace

void add_dense_modules(model::Transformer& model, std::span<const DenseModule> modules) {
  for (const DenseModule& module : modules) {
    nn::Parameters& parameters = model.parameters();
    parameters.create(fmt::format("{}.{}", module.folder, kWeight), {module.out, module.in},
                      nn::Initializer::xavier(), WeightRole::dense_module);
    if (module.bias)
      parameters.create(fmt::format("{}.{}", module.folder, kBias), {module.out},
                        nn::Initializer::zeros(), WeightRole::dense_module);
  }
}

std::vector<DenseParameters> dense_parameters(const model::Transformer& model) {
  std::vector<DenseParameters> found;
  for (const Parameter* const parameter : parameters_of(model))
    if (parameter->name.ends_with(kWeight))
      found.push_back({parameter, nullptr});
    else
      found.back().bias = parameter;
  return found;
}

void load_dense_modules(std::span<const DenseModule> modules, model::Transformer& model) {
  for (Parameter* const parameter : parameters_of(model)) {
    const auto [folder, name] = place_of(*parameter);
    const auto module = std::ranges::find(modules, folder, &DenseModule::folder);
    if (module == modules.end() || module->start.empty()) continue;
    const auto tensors = io::open_model_tensors(module->start);
    const Tensor stored = tensors->get(name);
    require(stored.shape() == parameter->shape, "{}: {} is {}, expected {}", tensors->name(), name,
            stored.shape().text(), parameter->shape.text());
    parameter->value = kernels::as_f32(stored).clone();
  }
}

std::vector<io::NamedTensor> dense_tensors(const model::Transformer& model) {
  std::vector<io::NamedTensor> all;
  for (const Parameter* const parameter : parameters_of(model))
    all.push_back({parameter->name, parameter->value});
  return all;
}

std::vector<io::NamedTensor> read_dense_modules(const std::filesystem::path& directory,
                                                const model::Transformer& model) {
  std::vector<io::NamedTensor> all;
  for (const Parameter* const parameter : parameters_of(model)) {
    const auto [folder, name] = place_of(*parameter);
    all.push_back({parameter->name, io::open_model_tensors(directory / folder)->get(name)});
  }
  return all;
}

void save_dense_modules(const std::filesystem::path& directory, const model::Transformer& model) {
  std::map<std::string, std::vector<io::NamedTensor>> folders;
  for (const Parameter* const parameter : parameters_of(model)) {
    const auto [folder, name] = place_of(*parameter);
    folders[folder].push_back({name, parameter->value});
  }
  for (const auto& [folder, tensors] : folders)
    io::write_safetensors(directory / folder / "model.safetensors", tensors, {{"format", "pt"}});
}

void set_dense_modules(model::Transformer& model, const io::TensorSource& tensors) {
  for (Parameter* const parameter : parameters_of(model))
    parameter->value = tensors.get(parameter->name).clone();
}

}  // namespace heed::train
