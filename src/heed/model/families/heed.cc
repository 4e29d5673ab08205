#include "heed/model/families/heed.h"

#include "heed/base/json.h"
#include "heed/base/names.h"

namespace heed::model {
namespace {

using kernels::Activation;

ModelConfig read_config(const nlohmann::json& json, const std::string& file) {
  const auto integer = [&](const char* key) { return get<int64_t>(json, key, file); };
  const auto number = [&](const char* key) {
    return static_cast<float>(get<double>(json, key, file));
  };
  const auto flag = [&](const char* key) { return get<bool>(json, key, file); };
  const auto name = [&](const char* key) { return get<std::string>(json, key, file); };
  ModelConfig c;
  c.vocab_size = integer("vocab_size");
  c.d_model = integer("d_model");
  c.encoder_layers = integer("encoder_layers");
  c.decoder_layers = integer("decoder_layers");
  c.n_heads = integer("n_heads");
  c.n_kv_heads = integer("n_kv_heads");
  c.d_head = integer("d_head");
  c.d_value = integer("d_value");
  c.d_ff = integer("d_ff");
  c.activation = named(name("activation"), std::vector{Activation::relu, Activation::gelu,
                                                       Activation::gelu_tanh, Activation::silu});
  c.gated = flag("gated");
  c.norm = named(name("norm"), std::vector{nn::NormKind::layer, nn::NormKind::rms});
  c.norm_placement = named(name("norm_placement"),
                           std::vector{nn::NormPlacement::post, nn::NormPlacement::pre});
  c.norm_epsilon = number("norm_epsilon");
  c.linear_bias = flag("linear_bias");
  c.positions = named(name("positions"), std::vector{PositionKind::none, PositionKind::sinusoidal,
                                                     PositionKind::learned});
  c.sinusoid_layout = flag("interleaved_sinusoids") ? nn::SinusoidLayout::interleaved
                                                    : nn::SinusoidLayout::halves;
  c.max_positions = integer("max_positions");
  c.scale_embedding = flag("scale_embedding");
  c.head_bias = flag("head_bias");
  c.dropout = number("dropout");
  c.attention_dropout = number("attention_dropout");
  c.activation_dropout = number("activation_dropout");
  c.pad_id = get<int32_t>(json, "pad_token_id", file);
  c.eos_id = get<int32_t>(json, "eos_token_id", file);
  c.start_id = get<int32_t>(json, "decoder_start_token_id", file);
  return c;
}

nlohmann::json write_config(const ModelConfig& c) {
  return {{"model_type", "heed"},
          {"vocab_size", c.vocab_size},
          {"d_model", c.d_model},
          {"encoder_layers", c.encoder_layers},
          {"decoder_layers", c.decoder_layers},
          {"n_heads", c.n_heads},
          {"n_kv_heads", c.n_kv_heads},
          {"d_head", c.d_head},
          {"d_value", c.d_value},
          {"d_ff", c.d_ff},
          {"activation", name_of(c.activation)},
          {"gated", c.gated},
          {"norm", name_of(c.norm)},
          {"norm_placement", name_of(c.norm_placement)},
          {"norm_epsilon", c.norm_epsilon},
          {"linear_bias", c.linear_bias},
          {"positions", name_of(c.positions)},
          {"interleaved_sinusoids", c.sinusoid_layout == nn::SinusoidLayout::interleaved},
          {"max_positions", c.max_positions},
          {"scale_embedding", c.scale_embedding},
          {"head_bias", c.head_bias},
          {"dropout", c.dropout},
          {"attention_dropout", c.attention_dropout},
          {"activation_dropout", c.activation_dropout},
          {"pad_token_id", c.pad_id},
          {"eos_token_id", c.eos_id},
          {"decoder_start_token_id", c.start_id}};
}

}  // namespace

Family heed_family() {
  return {.model_type = "heed",
          .read_config = read_config,
          .write_config = write_config,
          .can_express = [](const ModelConfig&) { return true; },
          .stored = [](const std::string& name,
                       const Shape& shape) { return StoredWeight{name, shape}; },
          .redundant = [](std::string_view) { return false; }};
}

}  // namespace heed::model
