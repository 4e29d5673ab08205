#include "heed/model/families/config_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/quote.h"
#include "heed/model/config_fields.h"

namespace heed::model {
namespace {

using kernels::Activation;

constexpr std::array<std::pair<std::string_view, Activation>, 9> kActivations{
    {{"relu", Activation::relu},
     {"gelu", Activation::gelu},
     {"gelu_new", Activation::gelu_tanh},
     {"gelu_fast", Activation::gelu_tanh},
     {"gelu_pytorch_tanh", Activation::gelu_tanh},
     {"silu", Activation::silu},
     {"swish", Activation::silu},
     {"tanh", Activation::tanh},
     {"gelu_python", Activation::gelu}}};

void read_scaling(const nlohmann::json& json, const std::string& file, nn::RotaryScaling& s) {
  std::string kind = get_or<std::string>(json, "rope_type",
                                         get_or<std::string>(json, "type", "default", file), file);
  if (kind == "default") kind = "none";
  if (kind == "su") kind = "longrope";  // its first name
  try {
    s.kind = named(kind, values_of<nn::RotaryScaling::Kind>());
  } catch (const Error& error) {
    fail("{}: rope_type {}", file, error.what());
  }
  if (s.kind == nn::RotaryScaling::Kind::none) return;
  const auto read = [&](const char* key, double& value) {
    value = get_or<double>(json, key, value, file);
  };
  read("factor", s.factor);
  s.original_max_positions =
      get_or<int64_t>(json, "original_max_position_embeddings", s.original_max_positions, file);
  read("low_freq_factor", s.low_freq_factor);
  read("high_freq_factor", s.high_freq_factor);
  read("beta_fast", s.beta_fast);
  read("beta_slow", s.beta_slow);
  read("mscale", s.mscale);
  read("mscale_all_dim", s.mscale_all_dim);
  read("attention_factor", s.attention_factor);
  s.truncate = get_or(json, "truncate", s.truncate, file);
  s.short_factor = get_or(json, "short_factor", s.short_factor, file);
  s.long_factor = get_or(json, "long_factor", s.long_factor, file);
}

/// What a scaling takes from fields beside it. Where the frequencies depend on the context, the
/// longest sequence is the original one; see ModelConfig::set_context().
void complete_scaling(const nlohmann::json& json, const std::string& file, ModelConfig& config) {
  using enum nn::RotaryScaling::Kind;
  nn::RotaryScaling& s = config.rotary_scaling;
  if (s.kind == none || s.kind == linear) return;
  if (s.kind == dynamic) s.original_max_positions = config.max_positions;
  if (s.original_max_positions == 0)
    s.original_max_positions =
        get_or(json, "original_max_position_embeddings", config.max_positions, file);
  if (s.kind != longrope) return;
  require(s.original_max_positions > 0,
          "{}: original_max_position_embeddings is {}, expected more than 0", file,
          s.original_max_positions);
  if (s.factor == 0.0)
    s.factor =
        static_cast<double>(config.max_positions) / static_cast<double>(s.original_max_positions);
  config.max_positions = std::min(config.max_positions, s.original_max_positions);
}

nlohmann::json scaling_json(const nn::RotaryScaling& s) {
  using enum nn::RotaryScaling::Kind;
  nlohmann::json json = {{"rope_type", s.kind == none ? "default" : name_of(s.kind)}};
  if (s.kind == none) return json;
  const auto given = [&](const char* key, double value) {
    if (value != 0.0) json[key] = value;
  };
  given("factor", s.factor);
  if (s.kind == linear || s.kind == dynamic) return json;
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

kernels::Activation read_activation(const nlohmann::json& json, const char* key,
                                    const std::string& file) {
  const auto name = get<std::string>(json, key, file);
  for (const auto& [known, activation] : kActivations)
    if (name == known) return activation;
  fail("{}: {} is {}, expected relu, gelu, gelu_new, gelu_pytorch_tanh, silu or tanh", file, key,
       quoted(name));
}

int32_t read_token(const nlohmann::json& json, const char* key, const std::string& file) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return -1;
  const nlohmann::json& value = found->is_array() && !found->empty() ? found->front() : *found;
  return static_cast<int32_t>(
      integer_of(value, key, file, -1, std::numeric_limits<int32_t>::max()));
}

nlohmann::json token_json(int32_t id) { return id < 0 ? nlohmann::json() : nlohmann::json(id); }

void read_eos(const nlohmann::json& json, const std::string& file, int32_t otherwise,
              ModelConfig& config) {
  constexpr const char* kKey = "eos_token_id";
  const int32_t first = read_token(json, kKey, file);
  config.eos_id = first < 0 ? otherwise : first;
  const auto found = json.find(kKey);
  if (found == json.end() || !found->is_array()) return;
  for (size_t i = 1; i < found->size(); ++i)
    config.other_eos_ids.push_back(
        integer_of((*found)[i], kKey, file, 0, std::numeric_limits<int32_t>::max()));
}

nlohmann::json eos_json(const ModelConfig& config) {
  if (config.other_eos_ids.empty()) return token_json(config.eos_id);
  return config.eos_ids();
}

float read_rate(const nlohmann::json& json, const char* key, const std::string& file) {
  return static_cast<float>(get_or(json, key, 0.0, file));
}

nlohmann::json with_defaults(nlohmann::json json, const nlohmann::json& defaults) {
  for (const auto& [name, value] : defaults.items())
    if (!json.contains(name)) json[name] = value;
  return json;
}

void read_rotary(const nlohmann::json& json, const std::string& file, ModelConfig& config) {
  config.positions = PositionKind::rotary;
  config.rotary_theta = get_or(json, "rope_theta", config.rotary_theta, file);
  nn::RotaryScaling& s = config.rotary_scaling;
  const auto parameters = json.find("rope_parameters");
  const auto scaling = json.find("rope_scaling");
  if (parameters != json.end() && !parameters->is_null()) {
    config.rotary_theta = get_or(*parameters, "rope_theta", config.rotary_theta, file);
    read_scaling(*parameters, file, s);
  } else if (scaling != json.end() && !scaling->is_null()) {
    read_scaling(*scaling, file, s);
  }
  complete_scaling(json, file, config);
}

void write_rotary(const ModelConfig& config, nlohmann::json& json) {
  const nn::RotaryScaling& s = config.rotary_scaling;
  if (s.depends_on_context()) json["max_position_embeddings"] = s.original_max_positions;
  if (s.kind == nn::RotaryScaling::Kind::longrope) {
    json["original_max_position_embeddings"] = s.original_max_positions;
    json["max_position_embeddings"] =
        std::llround(s.factor * static_cast<double>(s.original_max_positions));
  }
  nlohmann::json parameters = scaling_json(config.rotary_scaling);
  json["rope_scaling"] =
      config.rotary_scaling.kind == nn::RotaryScaling::Kind::none ? nlohmann::json() : parameters;
  json["rope_theta"] = config.rotary_theta;
  parameters["rope_theta"] = config.rotary_theta;
  json["rope_parameters"] = std::move(parameters);
}

void read_rotary_dim(const nlohmann::json& json, const std::string& file, double otherwise,
                     ModelConfig& config) {
  constexpr const char* kKey = "partial_rotary_factor";
  double factor = get_or(json, kKey, otherwise, file);
  if (const auto parameters = json.find("rope_parameters");
      parameters != json.end() && parameters->is_object())
    factor = get_or(*parameters, kKey, factor, file);
  require(factor > 0.0 && factor <= 1.0, "{}: {} is {}, expected more than 0 and at most 1", file,
          kKey, factor);
  const int64_t heads = std::max<int64_t>(config.n_heads, 1);
  const int64_t width = config.head_dim > 0 ? config.head_dim : config.d_model / heads;
  config.rotary_dim = static_cast<int64_t>(static_cast<double>(width) * factor);
  require(config.rotary_dim > 0, "{}: {} of {} rotates none of the {} columns of a head", file,
          kKey, factor, width);
}

double partial_rotary_factor(int64_t rotary_dim, int64_t head_dim) {
  const auto rotated = static_cast<double>(rotary_dim), width = static_cast<double>(head_dim);
  const double factor = rotated / width;
  return width * factor < rotated ? std::nextafter(factor, 1.0) : factor;
}

std::vector<int64_t> read_windows(const nlohmann::json& json, const std::string& file,
                                  int64_t layers, bool (*slides)(const nlohmann::json&, int64_t)) {
  const auto window = get_or<int64_t>(json, "sliding_window", 0, file);
  if (window == 0 || layers < 0 || layers > kMaxLayers) return {};
  const auto types = json.find("layer_types");
  const bool listed = types != json.end() && !types->is_null();
  require(!listed || (types->is_array() && static_cast<int64_t>(types->size()) == layers),
          "{}: layer_types is {}, expected a list of {} names", file,
          listed ? excerpt(*types) : "missing", layers);
  std::vector<int64_t> windows;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const bool slide =
        listed ? (*types)[static_cast<size_t>(layer)] == "sliding_attention" : slides(json, layer);
    windows.push_back(slide ? window : 0);
  }
  if (std::count(windows.begin(), windows.end(), 0) == layers) windows.clear();
  return windows;
}

void write_windows(const ModelConfig& config, nlohmann::json& json) {
  json["sliding_window"] = nullptr;
  if (config.windows.empty()) return;
  const int64_t window = *std::max_element(config.windows.begin(), config.windows.end());
  nlohmann::json types = nlohmann::json::array();
  for (const int64_t own : config.windows) {
    require(own == 0 || own == window,
            "the layers have windows of {} and {} tokens, expected one size", own, window);
    types.push_back(own ? "sliding_attention" : "full_attention");
  }
  json["sliding_window"] = window;
  json["layer_types"] = types;
}

std::string renamed(std::string name, std::initializer_list<Rename> renames) {
  for (const auto& [from, to] : renames)
    if (const size_t place = name.find(from); place != std::string::npos)
      name.replace(place, from.size(), to);
  return name;
}

}  // namespace heed::model
