#include "heed/model/families/known.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bert.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/rotary_json.h"
#include "heed/model/gguf/metadata.h"
#include "heed/model/stored_weight.h"

namespace heed::model {
namespace {

constexpr std::string_view kNomicStem = "NomicBert";
constexpr std::string_view kNomicPrefix = "nomic_bert.";
constexpr double kNomicTheta = 1000.0;

/// The published files have the names of GPT-2's fields, those of transformers 5 BERT's, and some
/// have both.
void take_published_names(ConfigReader& json) {
  static constexpr std::array<std::pair<const char*, const char*>, 8> kNames{
      {{"n_embd", "hidden_size"},
       {"n_layer", "num_hidden_layers"},
       {"n_head", "num_attention_heads"},
       {"n_inner", "intermediate_size"},
       {"n_positions", "max_position_embeddings"},
       {"layer_norm_epsilon", "layer_norm_eps"},
       {"rotary_emb_base", "rope_theta"},
       {"activation_function", "hidden_act"}}};
  if (json.value("activation_function") == "swiglu") json.set("activation_function", "silu");
  for (const auto& [published, name] : kNames) {
    if (json.states(published) && json.states(name))
      require(json.value(published) == json.value(name), "{}: {} is {}, expected that of {}, {}",
              json.file(), published, excerpt(json.value(published)), name,
              excerpt(json.value(name)));
    json.take_alias(published, name);
  }
  json.set_defaults({{"hidden_act", "silu"},
                     {"max_position_embeddings", 2048},
                     {"hidden_dropout_prob", 0.0},
                     {"attention_probs_dropout_prob", 0.0}});
}

/// The published code has many variants. Published are nomic-embed-text v1 and v1.5, which are
/// gated, and v2, a mixture of experts with biases.
void require_supported_nomic(ConfigReader& json) {
  const nlohmann::json expected{{"prenorm", false},
                                {"parallel_block", false},
                                {"parallel_block_tied_norm", false},
                                {"causal", false},
                                {"use_rms_norm", false},
                                {"add_pooling_layer", false},
                                {"rotary_emb_fraction", 1.0},
                                {"rotary_emb_interleaved", false},
                                {"rotary_emb_scale_base", nullptr},
                                {"rotary_scaling_factor", nullptr},
                                {"scale_attn_weights", true},
                                {"scale_attn_by_inverse_layer_idx", false}};
  for (const auto& [key, value] : expected.items()) json.expect(key.c_str(), value);
  json.understand({"dense_seq_output", "ffn_div", "fused_bias_fc", "fused_dropout_add_ln",
                   "max_trained_positions", "moe_impl", "moe_resid_pdrop",
                   "pad_vocab_size_multiple", "use_flash_attn", "use_xentropy"});
}

/// Gated networks have no biases; others, and attention with them, may have.
void read_nomic_biases(ConfigReader& json, ModelConfig& c) {
  if (c.gated)
    for (const char* key : {"qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias"})
      json.expect(key, false);
  c.qkv_bias = c.o_bias = !c.gated && json.get_or("qkv_proj_bias", true);
  c.ff_bias = !c.gated && json.get_or("mlp_fc2_bias", true);
  c.ff_up_bias = c.gated || !c.ff_bias || json.get_or("mlp_fc1_bias", true);
  if (!c.ff_bias) json.expect("mlp_fc1_bias", false);
}

void read_nomic_mixture(ConfigReader& json, ModelConfig& c) {
  const auto every = json.get_or<int64_t>("moe_every_n_layers", 0);
  if (c.gated) json.expect("moe_every_n_layers", 0);
  if (every == 0)
    return json.understand({"expert_choice_router", "moe_normalize_expert_weights", "moe_top_k",
                            "num_experts", "num_shared_experts"});
  require(every > 1, "{}: moe_every_n_layers is {}, expected 0 or more than 1", json.file(), every);
  for (const char* key : {"expert_choice_router", "moe_normalize_expert_weights"})
    json.expect(key, false);
  json.expect("num_shared_experts", 0);
  c.moe_every_n_layers = every;
  c.moe = {.n_experts = json.get<int64_t>("num_experts"),
           .experts_per_token = json.get<int64_t>("moe_top_k"),
           .d_expert = c.d_ff,
           .output_bias = true};
}

ModelConfig read_nomic(ConfigReader& json) {
  require_supported_nomic(json);
  const nlohmann::json published = json.value("activation_function");
  take_published_names(json);
  ModelConfig c = read_bert(json, kNomicStem);
  c.gated = !published.is_string() || published == "swiglu" || published == "silu";
  require(c.gated == (c.activation == kernels::Activation::silu),
          "{}: {} is {}, expected swiglu or silu", json.file(),
          json.has("activation_function") ? "activation_function" : "hidden_act",
          name_of(c.activation));
  read_nomic_biases(json, c);
  read_nomic_mixture(json, c);
  c.head_dim = json.get_or<int64_t>("head_dim", 0);
  read_rotary(json, {.default_theta = kNomicTheta}, c);
  c.pooler = false;
  return c;
}

nlohmann::json write_nomic(const ModelConfig& c) {
  nlohmann::json json = write_bert(c, "nomic_bert", kNomicStem);
  json.erase("position_embedding_type");
  json["head_dim"] = c.head_dim;
  write_rotary(c, json);
  if (c.gated || c.activation == kernels::Activation::silu) return json;
  json.erase("hidden_act");
  json.update({{"activation_function", name_of(c.activation)},
               {"qkv_proj_bias", c.qkv_bias},
               {"mlp_fc1_bias", c.ff_bias && c.ff_up_bias},
               {"mlp_fc2_bias", c.ff_bias}});
  if (!c.moe.present()) return json;
  json.update({{"moe_every_n_layers", c.moe_every_n_layers},
               {"num_experts", c.moe.n_experts},
               {"moe_top_k", c.moe.experts_per_token},
               {"moe_normalize_expert_weights", false},
               {"expert_choice_router", false},
               {"num_shared_experts", 0}});
  return json;
}

/// The experts of a layer are one below the other in two tensors, in the second transposed.
StoredWeight nomic_expert(const ModelConfig& c, StoredWeight weight) {
  constexpr std::string_view kExperts = ".experts.";
  const size_t place = weight.name.find(kExperts);
  const std::string stem = weight.name.substr(0, place) + ".mlp.experts.mlp.";
  const std::string_view rest = std::string_view(weight.name).substr(place + kExperts.size());
  int64_t expert = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), expert);
  weight.shape = {c.moe.n_experts * c.moe.d_expert, c.d_model};
  if (rest.ends_with(".fc1.weight")) {
    weight.first_row = expert * c.moe.d_expert;
    weight.name = stem + "w1";
    return weight;
  }
  weight.transposed = true;
  weight.matrices = c.moe.n_experts;
  weight.first_row = expert * c.d_model;
  weight.name = stem + "w2";
  return weight;
}

StoredWeight nomic_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  const int64_t heads = c.n_heads * c.head_dim;
  const std::string own =
      renamed(name, {{"model.shared.", "model.embeddings.word_embeddings."},
                     {"encoder.embed_types.", "embeddings.token_type_embeddings."},
                     {"encoder.layernorm_embedding.", "emb_ln."},
                     {".self_attn.o_proj.", ".attn.out_proj."},
                     {".self_attn_layer_norm.", ".norm1."},
                     {".final_layer_norm.", ".norm2."},
                     {".up_proj.", ".mlp.fc11."},
                     {".gate_proj.", ".mlp.fc12."},
                     {".down_proj.", ".mlp.fc2."},
                     {"lm_head.dense.", "cls.predictions.transform.dense."},
                     {"lm_head.layer_norm.", "cls.predictions.transform.layer_norm."},
                     {"lm_head.", "cls.predictions.decoder."},
                     {"final_logits_bias", "cls.predictions.bias"},
                     {"classifier.dense.", "nomic_bert.pooler.dense."},
                     {"classifier.out_proj.", "classifier."},
                     {".router.", ".mlp.router.layer."},
                     {"model.", is_bare_encoder(c) ? "" : kNomicPrefix}});
  const char* const own_bias = name == "final_logits_bias" ? "cls.predictions.decoder.bias" : "";
  StoredWeight weight{.name = own, .shape = shape, .preferred = own_bias};
  if (name.ends_with(".experts.bias")) {
    weight.name = renamed(std::move(weight.name), {{".experts.bias", ".mlp.experts.bias"}});
    weight.shape = {c.d_model};
    return weight;
  }
  if (name.find(".experts.") != std::string::npos) return nomic_expert(c, std::move(weight));
  weight.name = renamed(std::move(weight.name), {{".fc1.", ".mlp.fc1."}});
  if (!c.gated) weight.name = renamed(std::move(weight.name), {{".fc2.", ".mlp.fc2."}});
  return fused(std::move(weight), {{".self_attn.q_proj.", ".attn.Wqkv.", 0, 3 * heads},
                                   {".self_attn.k_proj.", ".attn.Wqkv.", heads, 3 * heads},
                                   {".self_attn.v_proj.", ".attn.Wqkv.", 2 * heads, 3 * heads}});
}

constexpr MetadataField kGgufNomic[] = {
    optional("attention.key_length", "head_dim", io::GgufType::u32),
    with_default("rope.freq_base", "rope_theta", io::GgufType::f32, 1000)};

void read_gguf_nomic_bert(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_bert(metadata, kNomicStem, config);
  config["hidden_act"] = "silu";
  config["rope_scaling"] = rotary_scaling(metadata);
}

}  // namespace

/// The text encoders of Nomic (Nussbaum et al. 2024): BERT with rotary positions, gated
/// feed-forward networks and few biases; the second version (Nussbaum and Duderstadt 2025) has
/// networks without gates, every other one a mixture of experts.
Family nomic_bert_family() {
  return {.model_type = "nomic_bert",
          .read = read_nomic,
          .write_config = write_nomic,
          .stored = nomic_weight,
          .prefix = kNomicPrefix,
          .redundant = redundant_in_bert,
          .gguf = {.architectures = {"nomic-bert"},
                   .fields = {kGgufBert, kGgufNomic},
                   .read = read_gguf_nomic_bert,
                   .write = write_gguf_bert,
                   .stored = gguf_encoder_weight}};
}

}  // namespace heed::model
