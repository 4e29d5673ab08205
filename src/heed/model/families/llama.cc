#include "heed/model/families/llama.h"

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

/// All projections have biases or none has ("attention_bias"); Qwen2 has them only for q, k and v.
ModelConfig read_llama_itself(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.qkv_bias = c.o_bias = get_or(json, "attention_bias", false, file);
  c.ff_bias = get_or(json, "mlp_bias", false, file);
  return c;
}

nlohmann::json write_llama_itself(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "llama", "LlamaForCausalLM");
  json["attention_bias"] = c.qkv_bias;
  json["mlp_bias"] = c.ff_bias;
  return json;
}

ModelConfig read_mistral(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.windows = read_windows(json, file, c.decoder_layers,
                           [](const nlohmann::json&, int64_t) { return true; });
  return c;
}

nlohmann::json write_mistral(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "mistral", "MistralForCausalLM");
  write_windows(c, json);
  json.erase("layer_types");  // Mistral's layers all slide
  return json;
}

void read_qwen_windows(const nlohmann::json& json, const std::string& file, ModelConfig& c) {
  if (!get_or(json, "use_sliding_window", false, file)) return;
  c.windows = read_windows(json, file, c.decoder_layers, [](const nlohmann::json& own, int64_t l) {
    return l >= get_or<int64_t>(own, "max_window_layers", 28, "config.json");
  });
}

void write_qwen_windows(const ModelConfig& c, nlohmann::json& json) {
  write_windows(c, json);
  json["use_sliding_window"] = !c.windows.empty();
}

ModelConfig read_qwen2(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.qkv_bias = true;
  read_qwen_windows(json, file, c);
  return c;
}

nlohmann::json write_qwen2(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "qwen2", "Qwen2ForCausalLM");
  json.erase("head_dim");  // Qwen2's heads share d_model
  write_qwen_windows(c, json);
  return json;
}

ModelConfig read_qwen3(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama_itself(json, file);
  c.head_dim = c.v_head_dim = get_or<int64_t>(json, "head_dim", 128, file);
  c.ff_bias = false;
  c.qk_norm = true;
  read_qwen_windows(json, file, c);
  return c;
}

nlohmann::json write_qwen3(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "qwen3", "Qwen3ForCausalLM");
  json["attention_bias"] = c.qkv_bias;
  write_qwen_windows(c, json);
  return json;
}

Family like_llama(std::string_view type,
                  ModelConfig (*read)(const nlohmann::json&, const std::string&),
                  nlohmann::json (*write)(const ModelConfig&)) {
  return {.model_type = type,
          .read_config = read,
          .write_config = write,
          .stored = llama_weight,
          .redundant = llama_redundant};
}

}  // namespace

ModelConfig read_llama(const nlohmann::json& json, const std::string& file) {
  ModelConfig c;
  c.vocab_size = get<int64_t>(json, "vocab_size", file);
  c.d_model = get<int64_t>(json, "hidden_size", file);
  c.encoder_layers = 0;
  c.decoder_layers = get<int64_t>(json, "num_hidden_layers", file);
  c.n_heads = get<int64_t>(json, "num_attention_heads", file);
  c.n_kv_heads = get_or(json, "num_key_value_heads", c.n_heads, file);
  c.head_dim = c.v_head_dim = get_or<int64_t>(json, "head_dim", 0, file);
  c.d_ff = get<int64_t>(json, "intermediate_size", file);
  c.activation = read_activation(json, "hidden_act", file);
  c.gated = true;
  c.norm = nn::NormKind::rms;
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_epsilon = static_cast<float>(get_or(json, "rms_norm_eps", 1e-6, file));
  c.qkv_bias = c.o_bias = c.ff_bias = c.head_bias = false;
  c.max_positions = get_or<int64_t>(json, "max_position_embeddings", 2048, file);
  read_rotary(json, file, c);
  c.scale_embedding = false;
  c.tied_head = get_or(json, "tie_word_embeddings", false, file);
  c.dropout = 0.0f;
  c.attention_dropout = read_rate(json, "attention_dropout", file);
  c.pad_id = read_token(json, "pad_token_id", file);
  c.bos_id = read_token(json, "bos_token_id", file);
  read_eos(json, file, -1, c);
  c.decoder_start_id = -1;
  return c;
}

nlohmann::json write_llama(const ModelConfig& c, std::string_view type,
                           std::string_view architecture) {
  nlohmann::json json = {{"architectures", {architecture}},
                         {"model_type", type},
                         {"vocab_size", c.vocab_size},
                         {"hidden_size", c.d_model},
                         {"num_hidden_layers", c.decoder_layers},
                         {"num_attention_heads", c.n_heads},
                         {"num_key_value_heads", c.n_kv_heads},
                         {"head_dim", c.head_dim},
                         {"intermediate_size", c.d_ff},
                         {"hidden_act", name_of(c.activation)},
                         {"rms_norm_eps", c.norm_epsilon},
                         {"max_position_embeddings", c.max_positions},
                         {"tie_word_embeddings", c.tied_head},
                         {"attention_dropout", c.attention_dropout},
                         {"pad_token_id", token_json(c.pad_id)},
                         {"bos_token_id", token_json(c.bos_id)},
                         {"eos_token_id", eos_json(c)},
                         {"torch_dtype", "float32"}};
  write_rotary(c, json);
  return json;
}

StoredWeight llama_weight(const ModelConfig&, const std::string& name, const Shape& shape) {
  return {.name = renamed(name, {{"model.shared.", "model.embed_tokens."},
                                 {"model.decoder.layers.", "model.layers."},
                                 {"model.decoder.layer_norm.", "model.norm."},
                                 {".self_attn_layer_norm.", ".input_layernorm."},
                                 {".final_layer_norm.", ".post_attention_layernorm."},
                                 {".gate_proj.", ".mlp.gate_proj."},
                                 {".up_proj.", ".mlp.up_proj."},
                                 {".down_proj.", ".mlp.down_proj."}}),
          .shape = shape};
}

bool llama_redundant(std::string_view name) {
  return name == "lm_head.weight" || name.ends_with(".rotary_emb.inv_freq");
}

Family llama_family() { return like_llama("llama", read_llama_itself, write_llama_itself); }
Family mistral_family() { return like_llama("mistral", read_mistral, write_mistral); }
Family qwen2_family() { return like_llama("qwen2", read_qwen2, write_qwen2); }
Family qwen3_family() { return like_llama("qwen3", read_qwen3, write_qwen3); }

}  // namespace heed::model
