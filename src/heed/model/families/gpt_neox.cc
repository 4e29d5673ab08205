#include "heed/model/families/gpt_neox.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

/// Older files have other names for the rotary base and for the rotated fraction of a head.
void read_neox_rotary(const nlohmann::json& json, const std::string& file, ModelConfig& c) {
  nlohmann::json own = json;
  if (json.contains("rotary_emb_base")) own["rope_theta"] = json["rotary_emb_base"];
  read_rotary(own, file, c);
  read_rotary_dim(own, file, get_or(json, "rotary_pct", 0.25, file), c);
}

ModelConfig read_gpt_neox(const nlohmann::json& json, const std::string& file) {
  ModelConfig c;
  c.vocab_size = get<int64_t>(json, "vocab_size", file);
  c.d_model = get<int64_t>(json, "hidden_size", file);
  c.encoder_layers = 0;
  c.decoder_layers = get<int64_t>(json, "num_hidden_layers", file);
  c.n_heads = get<int64_t>(json, "num_attention_heads", file);
  c.d_ff = get<int64_t>(json, "intermediate_size", file);
  c.activation = read_activation(json, "hidden_act", file);
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_epsilon =
      static_cast<float>(get_or(json, "layer_norm_eps", double{kLayerNormEpsilon}, file));
  c.parallel_residual = get_or(json, "use_parallel_residual", true, file);
  c.qkv_bias = c.o_bias = get_or(json, "attention_bias", true, file);
  c.max_positions = get_or<int64_t>(json, "max_position_embeddings", 2048, file);
  read_neox_rotary(json, file, c);
  c.scale_embedding = false;
  c.tied_head = get_or(json, "tie_word_embeddings", false, file);
  c.head_bias = false;
  c.dropout = read_rate(json, "hidden_dropout", file);
  c.attention_dropout = read_rate(json, "attention_dropout", file);
  c.pad_id = read_token(json, "pad_token_id", file);
  c.bos_id = read_token(json, "bos_token_id", file);
  read_eos(json, file, -1, c);
  c.decoder_start_id = -1;
  return c;
}

nlohmann::json write_gpt_neox(const ModelConfig& c) {
  nlohmann::json json = {{"architectures", {"GPTNeoXForCausalLM"}},
                         {"model_type", "gpt_neox"},
                         {"vocab_size", c.vocab_size},
                         {"hidden_size", c.d_model},
                         {"num_hidden_layers", c.decoder_layers},
                         {"num_attention_heads", c.n_heads},
                         {"intermediate_size", c.d_ff},
                         {"hidden_act", name_of(c.activation)},
                         {"layer_norm_eps", c.norm_epsilon},
                         {"use_parallel_residual", c.parallel_residual},
                         {"attention_bias", c.qkv_bias},
                         {"max_position_embeddings", c.max_positions},
                         {"tie_word_embeddings", c.tied_head},
                         {"hidden_dropout", c.dropout},
                         {"attention_dropout", c.attention_dropout},
                         {"pad_token_id", token_json(c.pad_id)},
                         {"bos_token_id", token_json(c.bos_id)},
                         {"eos_token_id", eos_json(c)},
                         {"torch_dtype", "float32"}};
  write_rotary(c, json);
  json["rotary_emb_base"] = c.rotary_theta;
  json["rotary_pct"] = json["rope_parameters"]["partial_rotary_factor"] =
      partial_rotary_factor(c.rotary_dim, c.head_dim);
  return json;
}

StoredWeight gpt_neox_weight(const ModelConfig& c, const std::string& name, const Shape& shape) {
  StoredWeight weight{
      .name = renamed(name, {{"model.shared.", "gpt_neox.embed_in."},
                             {"lm_head.", "embed_out."},
                             {"model.decoder.layers.", "gpt_neox.layers."},
                             {".self_attn_layer_norm.", ".input_layernorm."},
                             {".final_layer_norm.", ".post_attention_layernorm."},
                             {"model.decoder.layer_norm.", "gpt_neox.final_layer_norm."},
                             {".self_attn.o_proj.", ".attention.dense."},
                             {".fc1.", ".mlp.dense_h_to_4h."},
                             {".fc2.", ".mlp.dense_4h_to_h."}}),
      .shape = shape};
  // Each head has its query's rows, then its key's and its value's.
  int64_t place = 0;
  for (const std::string_view part :
       {".self_attn.q_proj.", ".self_attn.k_proj.", ".self_attn.v_proj."}) {
    if (name.find(part) != std::string::npos) {
      weight.name = renamed(weight.name, {{part, ".attention.query_key_value."}});
      weight.shape = shape.rank() == 2 ? Shape{3 * shape[0], shape[1]} : Shape{3 * shape[0]};
      weight.first_row = place * c.head_dim;
      weight.block_rows = c.head_dim;
      weight.block_stride = 3 * c.head_dim;
    }
    ++place;
  }
  return weight;
}

/// Causal masks and tables in older files, and copies of the tied head.
bool redundant_in_gpt_neox(std::string_view name) {
  return name == "embed_out.weight" || name.ends_with(".attention.bias") ||
         name.ends_with(".attention.masked_bias") || name.ends_with(".rotary_emb.inv_freq");
}

}  // namespace

Family gpt_neox_family() {
  return {.model_type = "gpt_neox",
          .read_config = read_gpt_neox,
          .write_config = write_gpt_neox,
          .stored = gpt_neox_weight,
          .prefix = "gpt_neox.",
          .redundant = redundant_in_gpt_neox};
}

}  // namespace heed::model
