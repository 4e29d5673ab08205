#include "heed/model/families/config_json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"

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

}  // namespace

kernels::Activation activation_of(const std::string& name, const char* key,
                                  const std::string& file) {
  for (const auto& [known, activation] : kActivations)
    if (name == known) return activation;
  fail("{}: {} is {}, expected relu, gelu, gelu_new, gelu_pytorch_tanh, silu or tanh", file, key,
       quoted(name));
}

kernels::Activation read_activation(ConfigReader& json, const char* key) {
  return activation_of(json.get<std::string>(key), key, json.file());
}

int32_t read_token(ConfigReader& json, const char* key) {
  const nlohmann::json& value = json.value(key);
  if (value.is_null()) return -1;
  return static_cast<int32_t>(integer_of(value.is_array() && !value.empty() ? value.front() : value,
                                         key, json.file(), -1,
                                         std::numeric_limits<int32_t>::max()));
}

nlohmann::json token_json(int32_t id) { return id < 0 ? nlohmann::json() : nlohmann::json(id); }

void read_eos(ConfigReader& json, int32_t otherwise, ModelConfig& config) {
  constexpr const char* kKey = "eos_token_id";
  const int32_t first = read_token(json, kKey);
  config.eos_id = first < 0 ? otherwise : first;
  const nlohmann::json& all = json.value(kKey);
  if (!all.is_array()) return;
  for (size_t i = 1; i < all.size(); ++i)
    config.other_eos_ids.push_back(
        integer_of(all[i], kKey, json.file(), 0, std::numeric_limits<int32_t>::max()));
}

nlohmann::json eos_json(const ModelConfig& config) {
  if (config.other_eos_ids.empty()) return token_json(config.eos_id);
  return config.eos_ids();
}

void read_decoder_tokens(ConfigReader& json, ModelConfig& config) {
  config.pad_id = read_token(json, "pad_token_id");
  config.bos_id = read_token(json, "bos_token_id");
  read_eos(json, -1, config);
  config.decoder_start_id = -1;
}

void write_decoder_tokens(const ModelConfig& config, nlohmann::json& json) {
  json["pad_token_id"] = token_json(config.pad_id);
  json["bos_token_id"] = token_json(config.bos_id);
  json["eos_token_id"] = eos_json(config);
}

void read_encoder_tokens(ConfigReader& json, ModelConfig& config) {
  config.pad_id = json.get_or<int32_t>("pad_token_id", 0);
  config.bos_id = read_token(json, "bos_token_id");
  config.eos_id = read_token(json, "eos_token_id");
  config.decoder_start_id = read_token(json, "decoder_start_token_id");
}

void write_encoder_tokens(const ModelConfig& config, nlohmann::json& json) {
  json["pad_token_id"] = config.pad_id;
  json["bos_token_id"] = token_json(config.bos_id);
  json["eos_token_id"] = token_json(config.eos_id);
  json["decoder_start_token_id"] = token_json(config.decoder_start_id);
}

float read_rate(ConfigReader& json, const char* key) {
  return static_cast<float>(json.get_or(key, 0.0));
}

void read_both_stacks(ConfigReader& json, ModelConfig& config) {
  json.take_alias("hidden_size", "d_model");
  json.take_alias("num_hidden_layers", "encoder_layers");
  json.take_alias("num_attention_heads", "encoder_attention_heads");
  config.d_model = json.get<int64_t>("d_model");
  config.encoder_layers = json.get<int64_t>("encoder_layers");
  config.decoder_layers = json.get<int64_t>("decoder_layers");
  config.n_heads = json.get<int64_t>("decoder_attention_heads");
  config.encoder_heads = json.get<int64_t>("encoder_attention_heads");
  config.d_ff = json.get<int64_t>("decoder_ffn_dim");
  config.encoder_d_ff = json.get<int64_t>("encoder_ffn_dim");
  config.activation = read_activation(json, "activation_function");
  config.norm_epsilon = kLayerNormEpsilon;
  config.max_positions = json.get_or<int64_t>("max_position_embeddings", 1024);
  config.scale_embedding = json.get_or("scale_embedding", false);
  config.attention_dropout = read_rate(json, "attention_dropout");
  config.activation_dropout = read_rate(json, "activation_dropout");
  config.bos_id = read_token(json, "bos_token_id");
}

nlohmann::json both_stacks_json(const ModelConfig& c, std::string_view type,
                                std::string_view architecture) {
  return {{"architectures", {architecture}},
          {"model_type", type},
          {"vocab_size", c.source_vocab_size()},
          {"d_model", c.d_model},
          {"encoder_layers", c.encoder_layers},
          {"decoder_layers", c.decoder_layers},
          {"num_hidden_layers", c.encoder_layers},
          {"encoder_attention_heads", c.encoder_heads},
          {"decoder_attention_heads", c.n_heads},
          {"encoder_ffn_dim", c.encoder_d_ff},
          {"decoder_ffn_dim", c.d_ff},
          {"activation_function", name_of(c.activation)},
          {"max_position_embeddings", c.max_positions},
          {"scale_embedding", c.scale_embedding},
          {"is_encoder_decoder", true},
          {"dropout", c.dropout},
          {"attention_dropout", c.attention_dropout},
          {"activation_dropout", c.activation_dropout},
          {"pad_token_id", c.pad_id},
          {"bos_token_id", token_json(c.bos_id)},
          {"eos_token_id", eos_json(c)},
          {"decoder_start_token_id", c.decoder_start_id},
          {"torch_dtype", "float32"}};
}

std::vector<int64_t> read_windows(ConfigReader& json, int64_t layers,
                                  const std::function<bool(int64_t layer)>& slides) {
  const auto window = json.get_or<int64_t>("sliding_window", 0);
  const nlohmann::json& types = json.value("layer_types");
  if (layers < 0 || layers > kMaxLayers) return {};
  const bool listed = !types.is_null();
  require(!listed || (types.is_array() && static_cast<int64_t>(types.size()) == layers),
          "{}: layer_types is {}, expected a list of {} names", json.file(),
          listed ? excerpt(types) : "missing", layers);
  std::vector<int64_t> windows;
  for (int64_t layer = 0; layer < layers; ++layer) {
    const nlohmann::json type = listed ? types[static_cast<size_t>(layer)] : nlohmann::json();
    require(!listed || type == "sliding_attention" || type == "full_attention",
            "{}: layer_types has {}, expected sliding_attention or full_attention", json.file(),
            excerpt(type));
    const bool slide = listed ? type == "sliding_attention" : window > 0 && slides(layer);
    require(!slide || window > 0, "{}: sliding_window is {}, expected a window for layer_types",
            json.file(), window);
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

}  // namespace heed::model
