#include "heed/model/families/bidirectional.h"

#include <utility>

#include "heed/model/families/classifier_json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

constexpr const char* kIsCausal = "is_causal";

void add_to_windows(ModelConfig& config, int64_t tokens) {
  for (int64_t& window : config.windows)
    if (window > 0) window += tokens;
}

/// The class without a head, such as "LlamaModel".
bool is_bare(std::string_view architecture) {
  return architecture.ends_with("Model") && !architecture.ends_with("HeadModel") &&
         !architecture.ends_with("HeadsModel");
}

}  // namespace

ModelConfig swapped_stacks(ModelConfig config) {
  std::swap(config.encoder_layers, config.decoder_layers);
  return config;
}

ModelConfig read_maybe_bidirectional(const Family& family, ConfigReader& json) {
  ModelConfig config = family.read(json);
  if (!config.tied_head && is_bare(read_architecture(json))) config.has_head = false;
  if (json.get_or(kIsCausal, true) || config.decoder_layers == 0) return config;
  add_to_windows(config, 1);
  return swapped_stacks(std::move(config));
}

nlohmann::json write_maybe_bidirectional(const Family& family, const ModelConfig& config) {
  // A configuration that names no family is not taken for one of a decoder.
  const bool is_encoder = config.decoder_layers == 0 && !config.family.empty();
  ModelConfig decoder = is_encoder ? swapped_stacks(config) : config;
  if (is_encoder) add_to_windows(decoder, -1);
  nlohmann::json json = family.write_config(decoder);
  if (is_encoder) json[kIsCausal] = false;
  if (!config.has_head && !config.classifier.present())
    json["architectures"] = {renamed(json["architectures"][0].get<std::string>(),
                                     {{"ForCausalLM", "Model"}, {"LMHeadModel", "Model"}})};
  return json;
}

StoredWeight stored_maybe_bidirectional(StoredTable table, const ModelConfig& config,
                                        const std::string& name, const Shape& shape) {
  if (config.decoder_layers > 0) return table(config, name, shape);
  return table(swapped_stacks(config), renamed(name, {{"model.encoder.", "model.decoder."}}),
               shape);
}

}  // namespace heed::model
