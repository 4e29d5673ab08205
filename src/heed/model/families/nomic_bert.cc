#include "heed/model/families/known.h"

#include <array>
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

/// The published code has many variants, and only one of them was published as nomic-embed-text.
void require_supported_nomic(ConfigReader& json) {
  const nlohmann::json expected{{"prenorm", false},
                                {"parallel_block", false},
                                {"parallel_block_tied_norm", false},
                                {"causal", false},
                                {"use_rms_norm", false},
                                {"add_pooling_layer", false},
                                {"qkv_proj_bias", false},
                                {"mlp_fc1_bias", false},
                                {"mlp_fc2_bias", false},
                                {"rotary_emb_fraction", 1.0},
                                {"rotary_emb_interleaved", false},
                                {"rotary_emb_scale_base", nullptr},
                                {"rotary_scaling_factor", nullptr},
                                {"moe_every_n_layers", 0},
                                {"scale_attn_weights", true},
                                {"scale_attn_by_inverse_layer_idx", false}};
  for (const auto& [key, value] : expected.items()) json.expect(key.c_str(), value);
  json.understand({"dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln",
                   "max_trained_positions", "mlp_fc1_bias", "pad_vocab_size_multiple",
                   "use_flash_attn", "use_xentropy"});
}

ModelConfig read_nomic(ConfigReader& json) {
  require_supported_nomic(json);
  take_published_names(json);
  ModelConfig c = read_bert(json, kNomicStem);
  require(c.activation == kernels::Activation::silu, "{}: {} is {}, expected swiglu or silu",
          json.file(), json.has("activation_function") ? "activation_function" : "hidden_act",
          name_of(c.activation));
  c.gated = true;
  c.qkv_bias = c.o_bias = c.ff_bias = false;
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
  return json;
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
                     {"model.", is_bare_encoder(c) ? "" : kNomicPrefix}});
  const char* const own_bias = name == "final_logits_bias" ? "cls.predictions.decoder.bias" : "";
  return fused({.name = own, .shape = shape, .preferred = own_bias},
               {{".self_attn.q_proj.", ".attn.Wqkv.", 0, 3 * heads},
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
/// feed-forward networks and few biases.
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
