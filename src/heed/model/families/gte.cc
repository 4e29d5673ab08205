#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/known.h"
#include "heed/model/families/rotary_json.h"

namespace heed::model {
namespace {

using Kind = nn::RotaryScaling::Kind;

constexpr std::string_view kGteStem = "Gte", kNewStem = "New";
constexpr std::string_view kGtePrefix = "gte.", kNewPrefix = "new.";

/// The published code has variants that no published model has.
void require_supported_gte(ConfigReader& json) {
  const nlohmann::json expected{{"layer_norm_type", "layer_norm"},
                                {"position_embedding_type", "rope"},
                                {"pack_qkv", true},
                                {"logn_attention_scale", false}};
  for (const auto& [key, value] : expected.items()) json.expect(key.c_str(), value);
  json.understand({"logn_attention_clip1", "unpad_inputs", "use_memory_efficient_attention"});
  const nlohmann::json& scaling = json.value("rope_scaling");
  if (!scaling.is_object()) return;
  const nlohmann::json mixed = scaling.value("mixed_b", nlohmann::json());
  require(mixed.is_null(), "{}: mixed_b of rope_scaling is {}, expected null", json.file(),
          excerpt(mixed));
}

ModelConfig read_gte(ConfigReader& json, std::string_view stem, double theta) {
  require_supported_gte(json);
  json.set_defaults({{"type_vocab_size", 1}, {"attention_probs_dropout_prob", 0.0}});
  json.set("position_embedding_type", "absolute");
  ModelConfig c = read_bert(json, stem);
  read_rotary(json, {.default_theta = theta, .ntk = stem == kNewStem}, c);
  const nn::RotaryScaling& scaling = c.rotary_scaling;
  require(stem == kGteStem || scaling.kind == Kind::none || scaling.kind == Kind::ntk,
          "{}: type of rope_scaling is {}, expected ntk", json.file(), name_of(scaling.kind));
  require(scaling.kind != Kind::ntk || scaling.factor >= 1.0,
          "{}: factor of rope_scaling is {}, expected at least 1", json.file(), scaling.factor);
  require(stem == kNewStem || !c.has_head || c.activation == kernels::Activation::gelu,
          "{}: hidden_act is \"{}\", expected \"gelu\", which the head has", json.file(),
          name_of(c.activation));
  c.gated = true;
  c.ff_up_bias = false;
  c.pooler = false;
  return c;
}

ModelConfig read_gte_itself(ConfigReader& json) {
  json.set_defaults({{"max_position_embeddings", 8192}, {"pad_token_id", 1}});
  return read_gte(json, kGteStem, 160000.0);
}

ModelConfig read_new(ConfigReader& json) {
  json.set_defaults({{"hidden_act", "gelu"}, {"max_position_embeddings", 2048}});
  return read_gte(json, kNewStem, 10000.0);
}

nlohmann::json write_gte(const ModelConfig& c, std::string_view type, std::string_view stem) {
  nlohmann::json json = write_bert(c, type, stem);
  json["position_embedding_type"] = "rope";
  json.erase("add_pooling_layer");
  write_rotary(c, json);
  if (type == "new") {
    json.erase("rope_parameters");  // its code is older
    if (json["rope_scaling"].is_object()) json["rope_scaling"]["type"] = "ntk";
    json["pack_qkv"] = true;
  }
  return json;
}

template <const std::string_view& prefix>
StoredWeight gte_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  const int64_t heads = c.n_heads * c.head_dim;
  const std::string own =
      renamed(name, {{"model.shared.", "model.embeddings.word_embeddings."},
                     {"encoder.embed_types.", "embeddings.token_type_embeddings."},
                     {"encoder.layernorm_embedding.", "embeddings.LayerNorm."},
                     {"encoder.layers.", "encoder.layer."},
                     {".self_attn.o_proj.", ".attention.o_proj."},
                     {".self_attn_layer_norm.", ".attn_ln."},
                     {".final_layer_norm.", ".mlp_ln."},
                     {".down_proj.", ".mlp.down_proj."},
                     {"lm_head.layer_norm.", "lm_head.norm."},
                     {"lm_head.weight", "lm_head.decoder.weight"},
                     {"final_logits_bias", "lm_head.decoder.bias"},
                     {"classifier.dense.", "model.pooler.dense."},
                     {"classifier.out_proj.", "classifier."},
                     {"model.", is_bare_encoder(c) ? "" : prefix}});
  return fused({.name = own, .shape = shape},
               {{".self_attn.q_proj.", ".attention.qkv_proj.", 0, 3 * heads},
                {".self_attn.k_proj.", ".attention.qkv_proj.", heads, 3 * heads},
                {".self_attn.v_proj.", ".attention.qkv_proj.", 2 * heads, 3 * heads},
                {".up_proj.", ".mlp.up_gate_proj.", 0, 2 * c.d_ff},
                {".gate_proj.", ".mlp.up_gate_proj.", c.d_ff, 2 * c.d_ff}});
}

}  // namespace

/// Alibaba's text encoders (Zhang et al. 2024, mGTE): BERT with rotary positions and gated
/// feed-forward networks.
Family gte_family() {
  return {.model_type = "gte",
          .read = read_gte_itself,
          .write_config = [](const ModelConfig& c) { return write_gte(c, "gte", kGteStem); },
          .stored = gte_weight<kGtePrefix>,
          .prefix = kGtePrefix,
          .redundant = redundant_in_bert};
}

/// The same as first published, with code of their own.
Family new_family() {
  Family family = gte_family();
  family.model_type = "new";
  family.read = read_new;
  family.write_config = [](const ModelConfig& c) { return write_gte(c, "new", kNewStem); };
  family.stored = gte_weight<kNewPrefix>;
  family.prefix = kNewPrefix;
  return family;
}

}  // namespace heed::model
