#include "heed/model/families/rotary_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/quote.h"
#include "heed/model/config_fields.h"

namespace heed::model {
namespace {

using Kind = nn::RotaryScaling::Kind;

constexpr const char* kParameters = "rope_parameters";
constexpr const char* kScaling = "rope_scaling";
constexpr const char* kFull = "full_attention";
constexpr const char* kSliding = "sliding_attention";
constexpr const char* kOriginal = "original_max_position_embeddings";

/// `ntk`: whether the family has this kind, the last.
Kind read_kind(ConfigReader& block, bool ntk = false) {
  auto kind = block.get_or<std::string>("rope_type", block.get_or<std::string>("type", "default"));
  if (kind == "default") kind = "none";
  if (kind == "su") kind = "longrope";  // its first name
  try {
    const auto all = values_of<Kind>();
    return named(kind, ntk ? all : all.first(all.size() - 1));
  } catch (const Error& error) {
    fail("{}: rope_type {}", block.file(), error.what());
  }
}

/// The numbers that a kind of scaling has.
void read_scaling(ConfigReader& block, nn::RotaryScaling& s, bool ntk = false) {
  s.kind = read_kind(block, ntk);
  if (s.kind == Kind::none) return;
  const auto read = [&](const char* key, double& value) { value = block.get_or(key, value); };
  read("factor", s.factor);
  if (s.kind == Kind::linear || s.kind == Kind::dynamic || s.kind == Kind::ntk) return;
  s.original_max_positions = block.get_or(kOriginal, s.original_max_positions);
  if (s.kind == Kind::llama3) {
    read("low_freq_factor", s.low_freq_factor);
    read("high_freq_factor", s.high_freq_factor);
    return;
  }
  read("attention_factor", s.attention_factor);
  if (s.kind == Kind::longrope) {
    s.short_factor = block.get_or("short_factor", s.short_factor);
    s.long_factor = block.get_or("long_factor", s.long_factor);
    return;
  }
  read("beta_fast", s.beta_fast);
  read("beta_slow", s.beta_slow);
  read("mscale", s.mscale);
  read("mscale_all_dim", s.mscale_all_dim);
  s.truncate = block.get_or("truncate", s.truncate);
}

/// The longest sequence that a scaling is made for, if its factor says so.
int64_t extended(const nn::RotaryScaling& s, int64_t original) {
  constexpr double kMost = 1 << 24;
  if (!(s.factor > 1.0) || original <= 0) return original;
  return std::llround(std::min(s.factor * static_cast<double>(original), kMost));
}

/// What a scaling takes from fields beside it. Where the frequencies depend on the context, the
/// longest sequence is the original one; see ModelConfig::set_context().
void complete_scaling(ConfigReader& json, ModelConfig& config) {
  nn::RotaryScaling& s = config.rotary_scaling;
  if (s.kind == Kind::none || s.kind == Kind::linear || s.kind == Kind::ntk) return;
  if (s.kind == Kind::dynamic) {
    s.original_max_positions = config.max_positions;
    return;
  }
  s.original_max_positions = json.get_or(kOriginal, s.original_max_positions);
  if (s.original_max_positions == 0) s.original_max_positions = config.max_positions;
  if (s.kind == Kind::llama3) return;
  require(s.original_max_positions > 0, "{}: {} is {}, expected more than 0", json.file(),
          kOriginal, s.original_max_positions);
  if (s.factor == 0.0)
    s.factor =
        static_cast<double>(config.max_positions) / static_cast<double>(s.original_max_positions);
  if (s.kind == Kind::longrope)
    config.max_positions = std::min(config.max_positions, s.original_max_positions);
}

/// Files of before transformers 5 and cards state the original longest sequence as the longest one.
void extend_context(ModelConfig& config) {
  const nn::RotaryScaling& s = config.rotary_scaling;
  if (s.kind == Kind::linear) config.max_positions = extended(s, config.max_positions);
  if (s.kind == Kind::yarn)
    config.max_positions = std::max(config.max_positions, extended(s, s.original_max_positions));
}

/// Whether two descriptions of the same scaling agree, of which the second may lack the base.
bool agree(const nlohmann::json& parameters, const nlohmann::json& scaling) {
  for (const auto& [key, value] : parameters.items())
    if (key != "rope_theta" && key != "partial_rotary_factor" && key != "type" &&
        key != "rope_type" && scaling.value(key, nlohmann::json()) != value)
      return false;
  const auto kind = [](const nlohmann::json& block) {
    return block.value("rope_type", block.value("type", nlohmann::json("default")));
  };
  return kind(parameters) == kind(scaling);
}

/// The field `key`; null where it is missing. Throws Error unless it is an object or null.
nlohmann::json object_at(ConfigReader& json, const char* key) {
  const nlohmann::json& value = json.value(key);
  require(value.is_null() || value.is_object(), "{}: {} is {}, expected an object", json.file(),
          key, excerpt(value));
  return value;
}

/// "rope_scaling", or where it is missing or empty "rope_parameters", becomes "rope_parameters".
void choose_block(ConfigReader& json) {
  const nlohmann::json scaling = object_at(json, kScaling);
  const nlohmann::json parameters = object_at(json, kParameters);
  if (scaling.is_null() || scaling.empty()) return;
  if (parameters.is_object() && !parameters.empty() && !agree(parameters, scaling))
    json.warn(
        fmt::format("{}: rope_parameters is {} and is ignored: rope_scaling is given, too, "
                    "and counts",
                    json.file(), excerpt(parameters)));
  json.set(kParameters, scaling);
}

void set_rotary_dim(double fraction, const std::string& file, ModelConfig& config) {
  constexpr const char* kKey = "partial_rotary_factor";
  require(fraction > 0.0 && fraction <= 1.0, "{}: {} is {}, expected more than 0 and at most 1",
          file, kKey, fraction);
  const int64_t heads = std::max<int64_t>(config.n_heads, 1);
  const int64_t width = config.head_dim > 0 ? config.head_dim : config.d_model / heads;
  config.rotary_dim = static_cast<int64_t>(static_cast<double>(width) * fraction);
  require(config.rotary_dim > 0 && config.rotary_dim % 2 == 0,
          "{}: {} is {}, which rotates {} of the {} columns of a head, expected an even number",
          file, kKey, fraction, config.rotary_dim, width);
}

/// The objects of both kinds of layers, with what "rope_scaling" says.
void merge_blocks(ConfigReader& json, bool scales_both) {
  const nlohmann::json scaling = object_at(json, kScaling), given = object_at(json, kParameters);
  nlohmann::json blocks = given.is_null() ? nlohmann::json::object() : given;
  for (const char* layers : {kFull, kSliding})
    if (!blocks[layers].is_object()) blocks[layers] = {{"rope_type", "default"}};
  if (scaling.is_object()) {
    blocks[kFull].update(scaling);
    if (scales_both) blocks[kSliding].update(scaling);
  }
  json.set(kParameters, blocks);
}

void read_local(ConfigReader& sliding, ModelConfig& config) {
  config.rotary_local_theta = sliding.get_or("rope_theta", config.rotary_local_theta);
  const Kind kind = read_kind(sliding);
  require(kind == Kind::none,
          "{}: rope_type of sliding_attention, from rope_parameters or rope_scaling, is {}, "
          "expected default",
          sliding.file(), name_of(kind));
}

nlohmann::json scaling_json(const nn::RotaryScaling& s) {
  using enum nn::RotaryScaling::Kind;
  nlohmann::json json = {{"rope_type", s.kind == none ? "default" : name_of(s.kind)}};
  if (s.kind == none) return json;
  const auto given = [&](const char* key, double value) {
    if (value != 0.0) json[key] = value;
  };
  given("factor", s.factor);
  if (s.kind == linear || s.kind == dynamic || s.kind == ntk) return json;
  if (s.original_max_positions) json["original_max_position_embeddings"] = s.original_max_positions;
  if (s.kind == llama3) {
    json["low_freq_factor"] = s.low_freq_factor;
    json["high_freq_factor"] = s.high_freq_factor;
    return json;
  }
  if (s.kind == longrope) {
    json["short_factor"] = s.short_factor;
    json["long_factor"] = s.long_factor;
    given("attention_factor", s.attention_factor);
    return json;
  }
  json["beta_fast"] = s.beta_fast;
  json["beta_slow"] = s.beta_slow;
  given("mscale", s.mscale);
  given("mscale_all_dim", s.mscale_all_dim);
  given("attention_factor", s.attention_factor);
  json["truncate"] = s.truncate;
  return json;
}

}  // namespace

void read_rotary(ConfigReader& json, const RotaryFields& fields, ModelConfig& config) {
  config.positions = PositionKind::rotary;
  choose_block(json);
  config.rotary_theta = json.get_or(fields.theta, fields.default_theta);
  double fraction = 1.0;
  if (fields.fraction) fraction = json.get_or(fields.fraction, fields.default_fraction);
  json.read_object(kParameters, [&](ConfigReader& block) {
    config.rotary_theta = block.get_or("rope_theta", config.rotary_theta);
    read_scaling(block, config.rotary_scaling, fields.ntk);
    if (fields.fraction) fraction = block.get_or("partial_rotary_factor", fraction);
  });
  if (fields.fraction) set_rotary_dim(fraction, json.file(), config);
  complete_scaling(json, config);
  extend_context(config);
}

void read_rotary_by_layer(ConfigReader& json, const LayerRotaryFields& fields,
                          ModelConfig& config) {
  config.positions = PositionKind::rotary;
  config.rotary_theta = json.get_or(fields.theta, fields.default_theta);
  config.rotary_local_theta = json.get_or(fields.local_theta, 10000.0);
  merge_blocks(json, fields.scales_both);
  json.read_object(kParameters, [&](ConfigReader& blocks) {
    blocks.read_object(kFull, [&](ConfigReader& block) {
      config.rotary_theta = block.get_or("rope_theta", config.rotary_theta);
      read_scaling(block, config.rotary_scaling);
    });
    blocks.read_object(kSliding, [&](ConfigReader& block) { read_local(block, config); });
  });
  nn::RotaryScaling& s = config.rotary_scaling;
  if (s.kind != Kind::none && s.kind != Kind::linear && s.original_max_positions == 0)
    s.original_max_positions = config.max_positions;
}

void write_rotary(const ModelConfig& config, nlohmann::json& json) {
  const nn::RotaryScaling& s = config.rotary_scaling;
  if (s.depends_on_context()) json["max_position_embeddings"] = s.original_max_positions;
  if (s.kind == nn::RotaryScaling::Kind::longrope) {
    json["original_max_position_embeddings"] = s.original_max_positions;
    json["max_position_embeddings"] =
        std::llround(s.factor * static_cast<double>(s.original_max_positions));
  }
  if (s.kind == nn::RotaryScaling::Kind::linear && s.factor > 1.0)  // extend_context()
    json["max_position_embeddings"] =
        std::llround(std::ceil(static_cast<double>(config.max_positions) / s.factor));
  nlohmann::json parameters = scaling_json(config.rotary_scaling);
  json["rope_scaling"] =
      config.rotary_scaling.kind == nn::RotaryScaling::Kind::none ? nlohmann::json() : parameters;
  json["rope_theta"] = config.rotary_theta;
  parameters["rope_theta"] = config.rotary_theta;
  json["rope_parameters"] = std::move(parameters);
}

void write_rotary_by_layer(const ModelConfig& config, nlohmann::json& json) {
  write_rotary(config, json);
  json["max_position_embeddings"] = config.max_positions;
  json["rope_parameters"] = {
      {kFull, json["rope_parameters"]},
      {kSliding, {{"rope_type", "default"}, {"rope_theta", config.rotary_local_theta}}}};
}

double partial_rotary_factor(int64_t rotary_dim, int64_t head_dim) {
  const auto rotated = static_cast<double>(rotary_dim), width = static_cast<double>(head_dim);
  const double factor = rotated / width;
  return width * factor < rotated ? std::nextafter(factor, 1.0) : factor;
}

}  // namespace heed::model
