#include "heed/checkpoint/adapter_directory.h"

#include <algorithm>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/gguf/adapter.h"
#include "heed/checkpoint/module_pattern.h"
#include "heed/checkpoint/stored_parts.h"
#include "heed/io/pytorch/pytorch_file.h"
#include "heed/kernels/as_f32.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/matmul.h"

namespace heed::checkpoint {
namespace {

using model::LinearModule;
using model::LoraAdapter;

constexpr std::string_view kTensors = "adapter_model.safetensors";
constexpr std::string_view kPrefix = "base_model.model.";

std::string name_of_a(const LinearModule& module) {
  return fmt::format("{}{}.lora_A.weight", kPrefix, module.name);
}
std::string name_of_b(const LinearModule& module) {
  return fmt::format("{}{}.lora_B.weight", kPrefix, module.name);
}

/// Where in its module's B [out, r] the rows of a part are.
model::StoredWeight rows_of_b(const LoraAdapter::Module& module, size_t part) {
  model::StoredWeight rows = module.linear.parts[part].stored;
  rows.name = name_of_b(module.linear);
  rows.shape = {module.linear.out, module.rank()};
  rows.transposed = false;
  return rows;
}

/// A module's tensors in a file.
struct Names {
  std::string a, b;
};

/// What a tensor that is not a matrix of LoRA is.
std::string_view meaning_of(const std::string& name) {
  if (name.find("lora_embedding_") != name.npos) return "adapts an embedding";
  if (name.find("lora_magnitude_vector") != name.npos) return "belongs to DoRA";
  return "is no matrix of a LoRA adapter";
}

/// The tensors of a file: the matrices of each module by its name, and weights of the base model by
/// the names that they have there.
struct FileTensors {
  std::map<std::string, Names> modules;
  std::map<std::string, std::string> base;
};

FileTensors tensors_in(const io::TensorSource& source) {
  constexpr std::string_view kBase = ".base_layer.";
  FileTensors tensors;
  for (const std::string& name : source.names()) {
    size_t at = name.find(".lora_A.");
    const bool a = at != name.npos;
    if (!a) at = name.find(".lora_B.");
    const bool prefixed = name.starts_with(kPrefix), matrix = at != name.npos;
    const std::string ending = matrix ? name.substr(at + 8) : "";
    if (prefixed && !matrix && name.find("lora_") == name.npos) {
      std::string own = name.substr(kPrefix.size());
      if (const size_t base = own.rfind(kBase); base != own.npos) own.erase(base, kBase.size() - 1);
      tensors.base[own] = name;
      continue;
    }
    require(prefixed && matrix && at >= kPrefix.size() &&
                (ending == "weight" || ending == "default.weight"),
            "{}: the tensor {} {}, which heed does not support", source.name(), one_line(name),
            meaning_of(name));
    Names& names = tensors.modules[name.substr(kPrefix.size(), at - kPrefix.size())];
    (a ? names.a : names.b) = name;
  }
  return tensors;
}

/// The model's modules by the names that files may have for them: with or without the family's
/// prefix.
std::map<std::string, const LinearModule*> by_name(const std::vector<LinearModule>& modules,
                                                   const model::Transformer& model) {
  const std::string_view prefix = model::family_for(model.config()).prefix;
  std::map<std::string, const LinearModule*> named;
  for (const LinearModule& module : modules) {
    const bool prefixed = module.name.starts_with(prefix);
    named.emplace(
        prefixed ? module.name.substr(prefix.size()) : fmt::format("{}{}", prefix, module.name),
        &module);
  }
  for (const LinearModule& module : modules) named.insert_or_assign(module.name, &module);
  return named;
}

Tensor matrix_in(const io::TensorSource& source, const std::string& name) {
  const Tensor tensor = source.get(name);
  require(tensor.shape().rank() == 2 && tensor.dtype() != DType::i32,
          "{}: {} is {} {}, expected a matrix of numbers", source.name(), one_line(name),
          heed::name_of(tensor.dtype()), tensor.shape().text());
  return kernels::as_f32(tensor).clone();
}

/// Throws Error unless A is [r, in] and B is [out, r].
void check_shapes(const io::TensorSource& source, const Names& names, const Tensor& a,
                  const Tensor& b, const LinearModule& module) {
  const int64_t rank = a.shape()[0];
  for (const auto& [name, tensor, expected] :
       {std::tuple{&names.a, &a, Shape{rank, module.in}}, {&names.b, &b, Shape{module.out, rank}}})
    require(tensor->shape() == expected,
            "{}: {} is {}, expected {} for {} of this model, which is [{}, {}]", source.name(),
            one_line(*name), tensor->shape().text(), expected.text(), module.name, module.out,
            module.in);
}

void set_b(LoraAdapter::Module& module, const Tensor& b) {
  for (size_t part = 0; part < module.bs.size(); ++part)
    module.bs[part]->value = part_of(b, rows_of_b(module, part), module.bs[part]->shape).clone();
}

/// Adds the modules of a file, with their matrices, to a new adapter.
void add_modules(LoadedAdapter& adapter, const std::map<std::string, Names>& in_file,
                 const io::TensorSource& source, const model::Transformer& model) {
  const std::vector<LinearModule> modules = model::linear_modules(model);
  const auto known = by_name(modules, model);
  const AdapterConfig& config = adapter.config;
  for (const auto& [name, names] : in_file) {
    require(!names.a.empty() && !names.b.empty(), "{}: {} has no {}", source.name(), one_line(name),
            names.a.empty() ? "lora_A" : "lora_B");
    if (!config.modules.selects(name)) {
      adapter.warnings.push_back(
          fmt::format("{}: the matrices of {} are ignored: target_modules, exclude_modules and "
                      "layers_to_transform of adapter_config.json do not select this module",
                      source.name(), one_line(name)));
      continue;
    }
    const auto found = known.find(name);
    require(found != known.end(),
            "{}: {} is for the module {}, and the model has no linear map of this name",
            source.name(), one_line(names.a), one_line(name));
    const Tensor a = matrix_in(source, names.a), b = matrix_in(source, names.b);
    const int64_t rank = a.shape()[0];
    require(rank == config.rank_of(name),
            "{}: {} is {}, but by r and rank_pattern of adapter_config.json its rank is {}",
            source.name(), one_line(names.a), a.shape().text(), config.rank_of(name));
    check_shapes(source, names, a, b, *found->second);
    LoraAdapter::Module& module =
        adapter.lora->add(*found->second, rank, config.scale_of(name, rank));
    module.a->value = a;
    set_b(module, b);
  }
  require(!adapter.lora->modules().empty(), "{} has no matrices of an adapter", source.name());
}

/// The parameter that files call `name`, and how. The embedding where the head is tied to it.
std::optional<LinearModule::Part> weight_of(const model::Transformer& model,
                                            const std::string& name) {
  const model::Family& family = model::family_for(model.config());
  const std::string prefix(family.prefix);
  for (const Parameter& weight : model.parameters().all()) {
    model::StoredWeight stored = family.stored(model.config(), weight.name, weight.shape);
    if (stored.name == name || stored.name == prefix + name || prefix + stored.name == name)
      return LinearModule::Part{&weight, std::move(stored)};
    if (weight.role == WeightRole::token_embedding && model.config().tied_head &&
        name == "lm_head.weight")
      return LinearModule::Part{&weight, std::move(stored)};
  }
  return std::nullopt;
}

/// Compares the weights of the base model that a file holds with those of the model.
void read_base_weights(LoadedAdapter& adapter, const std::map<std::string, std::string>& in_file,
                       const io::TensorSource& source, const model::Transformer& model) {
  for (const auto& [name, tensor_name] : in_file) {
    const auto found = weight_of(model, name);
    require(found.has_value(), "{}: the tensor {} {}, which heed does not support", source.name(),
            one_line(tensor_name), meaning_of(tensor_name));
    const auto& [weight, stored] = *found;
    const Tensor tensor = source.get(tensor_name);
    require(tensor.shape() == stored.shape && tensor.dtype() != DType::i32,
            "{}: {} is {}, expected {}, as in this model", source.name(), one_line(tensor_name),
            tensor.shape().text(), stored.shape.text());
    if (!weight->present() || !is_plain(weight->value.dtype())) {
      adapter.warnings.push_back(
          fmt::format("{}: {} is ignored: the model's own weight is quantised, packed or not "
                      "loaded, so the two "
                      "cannot be compared",
                      source.name(), one_line(tensor_name)));
      continue;
    }
    const Tensor value = kernels::as_f32(part_of(tensor, stored, weight->shape));
    const Tensor own = kernels::as_f32(weight->value);
    if (!std::ranges::equal(value.values<float>(), own.values<float>()))
      adapter.replaced.push_back({tensor_name, weight->name, value.clone()});
  }
}

std::string task_type_of(const model::Transformer& model) {
  if (!model.config().has_head || !model.has_decoder()) return "";
  return model.has_encoder() ? "SEQ_2_SEQ_LM" : "CAUSAL_LM";
}

}  // namespace

std::shared_ptr<const io::TensorSource> open_adapter_tensors(
    const std::filesystem::path& directory) {
  const std::filesystem::path pytorch = directory / "adapter_model.bin";
  if (!path_exists(directory / kTensors) && path_exists(pytorch))
    return io::PyTorchFile::open(pytorch);
  return io::SafetensorsFile::open(directory / kTensors);
}

LoadedAdapter load_adapter(const std::filesystem::path& directory,
                           const model::Transformer& model) {
  if (directory.extension() == ".gguf") return load_gguf_adapter(directory, model);
  LoadedAdapter result{read_adapter_config(directory), std::make_unique<LoraAdapter>(std::nullopt)};
  const auto source = open_adapter_tensors(directory);
  result.warnings = result.config.warnings;
  try {
    const FileTensors tensors = tensors_in(*source);
    add_modules(result, tensors.modules, *source, model);
    read_base_weights(result, tensors.base, *source, model);
  } catch (const Error& error) {
    const std::string& base = result.config.base_model;
    fail("{}{}", error.what(), base.empty() ? "" : "; the adapter was made for " + quoted(base));
  }
  return result;
}

std::vector<io::NamedTensor> adapter_tensors(const LoraAdapter& adapter) {
  std::vector<StoredPart> parts;
  for (const LoraAdapter::Module& module : adapter.modules()) {
    const model::StoredWeight a{.name = name_of_a(module.linear), .shape = module.a->shape};
    parts.push_back({a, module.a->value});
    for (size_t part = 0; part < module.bs.size(); ++part)
      parts.push_back({rows_of_b(module, part), module.bs[part]->value});
  }
  return joined(parts);
}

void set_adapter_tensors(LoraAdapter& adapter, const io::TensorSource& source) {
  std::set<std::string> expected;
  for (LoraAdapter::Module& module : adapter.modules()) {
    const Names names{name_of_a(module.linear), name_of_b(module.linear)};
    const Tensor a = matrix_in(source, names.a), b = matrix_in(source, names.b);
    require(a.shape() == module.a->shape, "{}: {} is {}, expected {}", source.name(), names.a,
            a.shape().text(), module.a->shape.text());
    check_shapes(source, names, a, b, module.linear);
    module.a->value = a;
    set_b(module, b);
    expected.insert({names.a, names.b});
  }
  for (const std::string& name : source.names())
    require(expected.contains(name), "{}: the tensor {} is not a part of the adapter",
            source.name(), one_line(name));
}

void save_adapter(const std::filesystem::path& directory, const model::Transformer& model,
                  const LoraAdapter& adapter, const AdapterConfig& config) {
  make_directory(directory);
  const std::vector<LinearModule> all = model::linear_modules(model);
  WrittenModules modules{.target_modules = target_modules(all, adapter),
                         .other_ranks = {},
                         .transposed = adapter.modules().front().linear.transposed,
                         .task_type = task_type_of(model)};
  for (const LoraAdapter::Module& module : adapter.modules())
    if (module.rank() != config.rank)
      modules.other_ranks.emplace_back(module.linear.name, module.rank());
  write_file_atomically(directory / "adapter_config.json", adapter_config_text(config, modules));
  io::write_safetensors(directory / kTensors, adapter_tensors(adapter), {{"format", "pt"}});
}

void replace_weights(model::Transformer& model, const LoadedAdapter& adapter) {
  for (const ReplacedWeight& weight : adapter.replaced)
    model.parameters().named(weight.model_name).value = weight.value;
}

void merge_adapter(model::Transformer& model, const Adapter& adapter, float factor) {
  for (Parameter& weight : model.parameters().all()) {
    const auto found = adapter.updates.find(&weight);
    if (found == adapter.updates.end()) continue;
    const auto& [a, b, scale, packed_a, packed_b] = found->second;
    require(weight.present() && weight.value.dtype() == DType::f32,
            "{} is not in f32, to which an adapter could be added", weight.name);
    Tensor scaled = b->value.clone(), sum = weight.value.clone();
    kernels::scale(scale * factor, scaled);
    kernels::matmul({scaled}, {a->value}, {.accumulate = true}, sum);
    weight.value = sum;
  }
}

}  // namespace heed::checkpoint
