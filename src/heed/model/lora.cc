#include "heed/model/lora.h"

#include <cmath>
#include <unordered_map>

#include "heed/base/error.h"

namespace heed::model {
namespace {

constexpr std::string_view kWeight = ".weight";

bool is_linear(const Parameter& parameter) {
  return parameter.shape.rank() == 2 && is_multiplied(parameter.role) &&
         parameter.name.ends_with(kWeight);
}

std::string without_ending(const std::string& name) {
  return name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size()) : name;
}

}  // namespace

std::vector<LinearModule> linear_modules(const Transformer& model) {
  const Family& family = family_for(model.config());
  std::vector<LinearModule> modules;
  std::unordered_map<std::string, size_t> places;
  for (const Parameter& weight : model.parameters().all()) {
    if (!is_linear(weight)) continue;
    const StoredWeight stored = family.stored(model.config(), weight.name, weight.shape);
    const auto [place, first] = places.try_emplace(stored.name, modules.size());
    if (first) modules.push_back({.name = without_ending(stored.name), .parts = {}});
    LinearModule& module = modules[place->second];
    module.parts.push_back({&weight, stored});
    module.in = weight.shape[1];
    module.out = stored.shape[stored.transposed ? 1 : 0];
    module.transposed = stored.transposed;
  }
  return modules;
}

LoraAdapter::Module& LoraAdapter::add(const LinearModule& linear, int64_t rank, float scale) {
  require(rank >= 1, "{}: the rank of its adapter is {}, expected at least 1", linear.name, rank);
  // Within gain * sqrt(6 / (in + r)) of 0.
  const double gain =
      std::sqrt(static_cast<double>(linear.in + rank) / (6.0 * static_cast<double>(linear.in)));
  Parameter& a =
      parameters_.create(linear.name + ".lora_A.weight", {rank, linear.in},
                         nn::Initializer::xavier(static_cast<float>(gain)), WeightRole::other);
  Module& module = modules_.emplace_back(Module{linear, &a, {}});
  for (const LinearModule::Part& part : linear.parts) {
    Parameter& b = parameters_.create(without_ending(part.weight->name) + ".lora_B.weight",
                                      {part.weight->shape[0], rank}, nn::Initializer::zeros(),
                                      WeightRole::other);
    module.bs.push_back(&b);
    adapter_.updates.emplace(part.weight, LowRankUpdate{&a, &b, scale});
  }
  return module;
}

void LoraAdapter::move_to(Device* device) {
  for (Parameter& parameter : parameters_.all()) parameter.value = parameter.value.to(device);
}

void LoraAdapter::pack() {
  for (auto& [weight, update] : adapter_.updates) {
    const DeviceScope scope(update.a->value.device());
    update.packed_a = kernels::pack({update.a->value, true});
    update.packed_b = kernels::pack({update.b->value, true});
  }
}

}  // namespace heed::model
