#include "heed/checkpoint/gguf/adapter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/gguf/weights.h"
#include "heed/checkpoint/stored_parts.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/io/gguf/write.h"
#include "heed/kernels/as_f32.h"
#include "heed/model/gguf/write.h"
#include "heed/quantize/precision.h"

namespace heed::checkpoint {
namespace {

using model::LinearModule;
using model::LoraAdapter;
using model::ModelConfig;
using model::StoredWeight;

constexpr const char *kAlpha = "adapter.lora.alpha", *kAdapterType = "adapter.type",
                     *kGeneralType = "general.type", *kArchitecture = "general.architecture";

/// Where a GGUF file has the matrices of an adapter of one weight. Those of all experts of a layer
/// lie in one tensor, as their weights do.
struct LoraPlaces {
  StoredWeight a, b;
};

LoraPlaces lora_places(const StoredWeight& weight, int64_t rank) {
  LoraPlaces places{{.name = weight.name + ".lora_a", .shape = {rank, weight.shape[-1]}},
                    {.name = weight.name + ".lora_b",
                     .shape = {weight.shape[0], rank},
                     .first_row = weight.first_row}};
  if (weight.shape.rank() < 3) return places;
  const int64_t experts = weight.shape[0], out = weight.shape[1];
  places.a.shape = {experts, rank, weight.shape[2]};
  places.a.first_row = weight.first_row / out * rank;
  places.b.shape = {experts, out, rank};
  return places;
}

/// How a GGUF file has a weight. Throws Error when it has none, or two parts of it.
StoredWeight gguf_weight(const model::GgufForm& form, const ModelConfig& config,
                         const Parameter& weight, const std::string& module) {
  const StoredWeight stored = form.stored(config, weight.name, weight.shape);
  require(stored.name != weight.name && gguf_parts(stored.name, stored.shape, config).size() == 1,
          "a GGUF file cannot hold this adapter: it has no tensor for {}", module);
  return stored;
}

/// The rank times the scale of each update, which must be one number.
float common_alpha(const LoadedAdapter& adapter) {
  double alpha = 0;
  for (const LoraAdapter::Module& module : adapter.lora->modules()) {
    const Parameter* const weight = module.linear.parts.front().weight;
    const double own =
        adapter.lora->updates().updates.at(weight).scale * static_cast<double>(module.rank());
    const auto differs = [own](double other) {
      return std::abs(own - other) > 1e-6 * std::abs(own);
    };
    if (alpha == 0) alpha = differs(adapter.config.alpha) ? own : adapter.config.alpha;
    require(alpha != 0 && !differs(alpha),
            "a GGUF file cannot hold this adapter: by lora_alpha, alpha_pattern and use_rslora, "
            "alpha is {:.6g} for {} and {:.6g} for {}, but {} is one number, which is not 0",
            own, module.linear.name, alpha, adapter.lora->modules().front().linear.name, kAlpha);
  }
  return static_cast<float>(alpha);
}

/// The matrices of an adapter, as a file has them.
std::vector<StoredPart> lora_parts(const LoraAdapter& adapter, const model::GgufForm& form,
                                   const ModelConfig& config) {
  std::vector<StoredPart> parts;
  std::map<std::string, Shape> shapes;
  std::map<std::pair<std::string, int64_t>, const Parameter*> written;
  for (const LoraAdapter::Module& module : adapter.modules())
    for (size_t i = 0; i < module.bs.size(); ++i) {
      const std::string& name = module.linear.name;
      const Parameter& weight = *module.linear.parts[i].weight;
      const auto [a, b] = lora_places(gguf_weight(form, config, weight, name), module.rank());
      require(shapes.try_emplace(a.name, a.shape).first->second == a.shape,
              "a GGUF file cannot hold this adapter: {} has another rank than other modules that "
              "{} is for",
              name, a.name);
      const auto [known, first] = written.try_emplace({a.name, a.first_row}, module.a);
      require(known->second == module.a,
              "a GGUF file cannot hold this adapter: {} has another lora_A than other modules that "
              "{} is for",
              name, a.name);
      if (first) parts.push_back({a, module.a->value});
      parts.push_back({b, module.bs[i]->value});
    }
  return parts;
}

/// Checks what a file says of itself; returns its alpha.
double checked_alpha(const io::GgufFile& file, const std::string& architecture) {
  const io::GgufMetadata& metadata = file.metadata();
  for (const auto& [key, expected] : {std::pair<const char*, std::string>(kGeneralType, "adapter"),
                                      {kAdapterType, "lora"},
                                      {kArchitecture, architecture}}) {
    const auto found = metadata.get<std::string>(key);
    require(found == expected, "{}: {} is {}, expected {}", file.name(), key, quoted(found),
            quoted(expected));
  }
  require(!metadata.contains("adapter.alora.invocation_tokens"),
          "{}: adapter.alora.invocation_tokens is there, which heed does not support", file.name());
  const auto alpha = metadata.get<double>(kAlpha);
  require(std::isfinite(static_cast<float>(alpha)) && alpha != 0,
          "{}: {} is {}, expected a number other than 0", file.name(), kAlpha, alpha);
  return alpha;
}

Tensor lora_matrix(const io::TensorSource& source, const StoredWeight& stored, const Shape& shape) {
  require(source.contains(stored.name), "{}: there is no {}", source.name(), stored.name);
  const Tensor tensor = source.get(stored.name);
  require(tensor.shape() == stored.shape && tensor.dtype() != DType::i32,
          "{}: {} is {} {}, expected numbers {} for this model", source.name(), stored.name,
          heed::name_of(tensor.dtype()), tensor.shape().text(), stored.shape.text());
  return kernels::as_f32(part_of(tensor, stored, shape)).clone();
}

/// Adds the matrices of one module, if the file has some. `used` gets their names.
void add_lora_module(LoadedAdapter& adapter, const LinearModule& linear,
                     const std::vector<StoredWeight>& weights, const io::TensorSource& source,
                     std::set<std::string>& used) {
  LoraAdapter::Module* module = nullptr;
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string name = weights[i].name + ".lora_a";
    if (!source.contains(name)) continue;
    const Shape found = source.get(name).shape();
    const int64_t rank = found.rank() >= 2 ? found[-2] : 0;
    require(rank > 0, "{}: {} is {}, expected a matrix", source.name(), name, found.text());
    const auto [in_a, in_b] = lora_places(weights[i], rank);
    const Tensor a = lora_matrix(source, in_a, {rank, linear.in});
    if (!module) {
      if (adapter.lora->modules().empty()) adapter.config.rank = rank;
      const double scale = adapter.config.alpha / static_cast<double>(rank);
      module = &adapter.lora->add(linear, rank, static_cast<float>(scale));
      module->a->value = a;
      for (Parameter* b : module->bs) b->value = Tensor::zeros(b->shape);
    }
    require(a.shape() == module->a->shape &&
                std::ranges::equal(a.values<float>(), module->a->value.values<float>()),
            "{}: {} has other elements than those of other parts of {}", source.name(), name,
            linear.name);
    module->bs[i]->value = lora_matrix(source, in_b, module->bs[i]->shape);
    used.insert({in_a.name, in_b.name});
  }
}

}  // namespace

LoadedAdapter load_gguf_adapter(const std::filesystem::path& path,
                                const model::Transformer& model) {
  const auto file = io::GgufFile::open(path);
  const ModelConfig& config = model.config();
  const model::GgufForm& form = model::gguf_family_for(config).gguf;
  LoadedAdapter adapter{{.alpha = checked_alpha(*file, model::gguf_architecture(config))},
                        std::make_unique<LoraAdapter>(std::nullopt)};
  const auto source = gguf_weights(file, config, form.in_pairs);
  std::set<std::string> used;
  for (const LinearModule& linear : model::linear_modules(model)) {
    std::vector<StoredWeight> weights;
    for (const auto& [weight, unused] : linear.parts)
      weights.push_back(form.stored(config, weight->name, weight->shape));
    add_lora_module(adapter, linear, weights, *source, used);
  }
  for (const std::string& name : file->names())
    require(used.contains(name), "{}: {} is for no linear map of this model", file->name(),
            one_line(name));
  require(!used.empty(), "{} has no matrices of an adapter", file->name());
  return adapter;
}

void save_gguf_adapter(const std::filesystem::path& path, const model::Transformer& model,
                       const LoadedAdapter& adapter, DType dtype, const std::string& name) {
  const ModelConfig& config = model.config();
  const model::GgufForm& form = model::gguf_family_for(config).gguf;
  const io::GgufValues metadata{{kArchitecture, model::gguf_architecture(config)},
                                {kGeneralType, std::string("adapter")},
                                {kAdapterType, std::string("lora")},
                                {kAlpha, common_alpha(adapter)},
                                {"general.name", name},
                                {"general.quantization_version", uint32_t{2}}};
  io::GgufLayout layout{.metadata = io::gguf_metadata_bytes(metadata), .tensors = {}};
  std::map<std::string, Tensor> matrices;
  for (const auto& [own, matrix] : joined(lora_parts(*adapter.lora, form, config))) {
    const Shape& shape = matrix.shape();
    layout.tensors.push_back(
        {own, shape, shape[-1] % block_elements(dtype) == 0 ? dtype : DType::f16});
    matrices[own] = gguf_part({own, shape}, matrix, config, form.in_pairs);
  }
  io::write_gguf(path, layout, [&](const io::GgufTensor& tensor) {
    return quantize::in_precision(matrices.at(tensor.name), {tensor.dtype});
  });
}

}  // namespace heed::checkpoint
