#include "heed/model/families/family.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/known.h"

namespace heed::model {

namespace {

/// Fields that transformers applies to any family, at the values that heed applies.
void require_reference_fields(ConfigReader& json, const ModelConfig& config) {
  const bool both = config.encoder_layers > 0 && config.decoder_layers > 0;
  json.expect("per_layer_config", nlohmann::json::object());
  json.expect("pruned_heads", nlohmann::json::object());
  json.expect("tie_encoder_decoder", false);
  if (both)
    json.expect("is_causal", true);
  else
    json.expect("add_cross_attention", false);
  json.understand({"is_encoder_decoder"});
  // Encoders would become decoders; decoders and pairs are what they are.
  if (config.decoder_layers == 0)
    json.expect("is_decoder", false);
  else
    json.understand({"is_decoder"});
  // Read by other families: said of all models by older versions of transformers.
  if (both || config.decoder_layers > 0) json.understand({"decoder_start_token_id"});
}

/// They occur in no text, so they are no reason to refuse a model.
void drop_foreign_tokens(const std::string& file, ModelConfig& c) {
  const auto foreign = [&](const char* key, int64_t id) {
    if (id < c.vocab_size) return false;
    c.warnings.push_back(
        fmt::format("{}: {} is {} and is ignored: the vocabulary has the tokens 0 to {}", file, key,
                    id, c.vocab_size - 1));
    return true;
  };
  if (foreign("pad_token_id", c.pad_id)) c.pad_id = -1;
  if (foreign("bos_token_id", c.bos_id)) c.bos_id = -1;
  std::erase_if(c.other_eos_ids, [&](int64_t id) { return foreign("eos_token_id", id); });
  if (foreign("eos_token_id", c.eos_id)) {
    c.eos_id = c.other_eos_ids.empty() ? -1 : static_cast<int32_t>(c.other_eos_ids.front());
    if (c.eos_id >= 0) c.other_eos_ids.erase(c.other_eos_ids.begin());
  }
  const bool starts = c.encoder_layers > 0 && c.decoder_layers > 0;
  if (!starts && foreign("decoder_start_token_id", c.decoder_start_id)) c.decoder_start_id = -1;
}

}  // namespace

std::span<const Family> families() {
#define HEED_FAMILY(name) name(),
  static const std::array all{HEED_FAMILIES(HEED_FAMILY)};
#undef HEED_FAMILY
  return all;
}

ModelConfig Family::read_config(const nlohmann::json& json, const std::string& file) const {
  if (!json.is_object()) fail("{}: expected an object, found {}", file, excerpt(json));
  ConfigReader reader(json, file);
  return read_config(reader);
}

ModelConfig Family::read_config(ConfigReader& json) const {
  json.understand({"quantization_config"});
  ModelConfig config = read(json);
  require_reference_fields(json, config);
  config.warnings = json.warnings();
  drop_foreign_tokens(json.file(), config);
  return config;
}

namespace {

/// Whether two values are the same, numbers but for a relative error.
bool agree(const nlohmann::json& a, const nlohmann::json& b, double tolerance) {
  if (a.is_array() && b.is_array())
    return std::ranges::equal(a, b,
                              [&](const auto& x, const auto& y) { return agree(x, y, tolerance); });
  if (!a.is_number_float() || !b.is_number_float()) return a == b;
  const auto x = a.get<double>(), y = b.get<double>();
  return x == y || std::abs(x - y) <= tolerance * std::abs(x);
}

}  // namespace

std::string difference(const ModelConfig& config, ModelConfig again, double tolerance) {
  again.family = config.family;
  again.dropout = config.dropout;
  again.attention_dropout = config.attention_dropout;
  again.activation_dropout = config.activation_dropout;
  // Relative biases do not limit the length, so families that use them do not store it.
  // With scaled rotary positions, they store the longest one possible, or the original one.
  if (config.positions == PositionKind::relative ||
      config.rotary_scaling.kind != nn::RotaryScaling::Kind::none)
    again.max_positions = config.max_positions;
  const nlohmann::json expected = heed_family().write_config(config);
  const nlohmann::json read_back = heed_family().write_config(again);
  for (const auto& [name, value] : expected.items())
    if (!agree(value, read_back[name], tolerance))
      return fmt::format("{} is {}, but would be read back as {}", name, dump_json(value),
                         dump_json(read_back[name]));
  return {};
}

std::string Family::obstacle(const ModelConfig& config) const {
  ModelConfig again;
  try {
    again = read_config(write_config(config), "config.json");
    again.validate();
  } catch (const Error& error) {
    return error.what();
  }
  return difference(config, std::move(again));
}

const Family& family_of_type(std::string_view model_type, const std::string& file) {
  std::string known;
  for (const Family& family : families()) {
    if (family.model_type == model_type) return family;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", family.model_type);
  }
  fail("{}: model_type is {}, expected one of {}", file, quoted(model_type), known);
}

const Family& gguf_family(const ArchitectureMetadata& metadata) {
  const Family* otherwise = nullptr;
  std::set<std::string_view> known;
  for (const Family& family : families()) {
    const GgufForm& form = family.gguf;
    known.insert(form.architectures.begin(), form.architectures.end());
    if (!std::ranges::count(form.architectures, metadata.architecture())) continue;
    if (!form.holds)
      otherwise = &family;
    else if (form.holds(metadata))
      return family;
  }
  if (otherwise) return *otherwise;
  fail("{}: general.architecture is {}, expected one of {}", metadata.file().name(),
       quoted(metadata.architecture()), fmt::join(known, ", "));
}

int32_t padding_token(const ModelConfig& config) {
  const auto named = std::ranges::find(families(), config.family, &Family::model_type);
  return named != families().end() && named->padded_embedding ? config.pad_id : -1;
}

const Family& family_for(const ModelConfig& config) {
  if (!config.family.empty()) {
    const Family& family = family_of_type(config.family, "the configuration");
    const std::string obstacle = family.obstacle(config);
    require(obstacle.empty(), "the family {} cannot express this configuration: {}", config.family,
            obstacle);
    return family;
  }
  for (const Family& family : families())
    if (family.can_express(config)) return family;
  return families().back();
}

}  // namespace heed::model
