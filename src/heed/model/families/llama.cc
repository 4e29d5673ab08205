#include "heed/model/families/llama.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"

namespace heed::model {
namespace {

nlohmann::json write_llama_itself(const ModelConfig& c) {
  return write_biased_llama(c, "llama", "LlamaForCausalLM");
}

nlohmann::json write_mistral(const ModelConfig& c) {
  return write_windowed_llama(c, "mistral", "MistralForCausalLM");
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

/// Qwen2 has biases only of q, k and v.
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
  ModelConfig c = read_biased_llama(json, file);
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

/// Only models in which every layer is a mixture are known.
ModelConfig read_qwen3_moe(const nlohmann::json& json, const std::string& file) {
  const auto step = get_or<int64_t>(json, "decoder_sparse_step", 1, file);
  require(step == 1, "{}: decoder_sparse_step is {}, expected 1", file, step);
  const auto dense = get_or(json, "mlp_only_layers", std::vector<int64_t>(), file);
  require(dense.empty(), "{}: mlp_only_layers has {} numbers, expected none", file, dense.size());
  ModelConfig c = read_qwen3(json, file);
  const char* const experts = json.contains("num_experts") ? "num_experts" : "num_local_experts";
  c.moe = {.n_experts = get<int64_t>(json, experts, file),
           .experts_per_token = get_or<int64_t>(json, "num_experts_per_tok", 8, file),
           .d_expert = get_or<int64_t>(json, "moe_intermediate_size", 768, file),
           .norm_topk_prob = get_or(json, "norm_topk_prob", false, file)};
  return c;
}

nlohmann::json write_qwen3_moe(const ModelConfig& c) {
  nlohmann::json json = write_qwen3(c);
  json.update({{"architectures", {"Qwen3MoeForCausalLM"}},
               {"model_type", "qwen3_moe"},
               {"num_experts", c.moe.n_experts},
               {"num_experts_per_tok", c.moe.experts_per_token},
               {"moe_intermediate_size", c.moe.d_expert},
               {"norm_topk_prob", c.moe.norm_topk_prob},
               {"decoder_sparse_step", 1},
               {"mlp_only_layers", nlohmann::json::array()}});
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

ModelConfig read_windowed_llama(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.windows = read_windows(json, file, c.decoder_layers,
                           [](const nlohmann::json&, int64_t) { return true; });
  return c;
}

ModelConfig read_biased_llama(const nlohmann::json& json, const std::string& file) {
  ModelConfig c = read_llama(json, file);
  c.qkv_bias = c.o_bias = get_or(json, "attention_bias", false, file);
  c.ff_bias = get_or(json, "mlp_bias", false, file);
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

nlohmann::json write_biased_llama(const ModelConfig& c, std::string_view type,
                                  std::string_view architecture) {
  nlohmann::json json = write_llama(c, type, architecture);
  json["attention_bias"] = c.qkv_bias;
  json["mlp_bias"] = c.ff_bias;
  return json;
}

nlohmann::json write_windowed_llama(const ModelConfig& c, std::string_view type,
                                    std::string_view architecture) {
  nlohmann::json json = write_llama(c, type, architecture);
  write_windows(c, json);
  json.erase("layer_types");  // the layers all slide
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

StoredWeight llama_moe_weight(const ModelConfig& config, const std::string& name,
                              const Shape& shape) {
  StoredWeight weight = llama_weight(config, renamed(name, {{".router.", ".mlp.gate."}}), shape);
  // Llama's table puts "mlp" before the last part of the name; an expert's stands before its
  // number.
  for (const char* part : {".experts.", ".shared_experts."})
    if (weight.name.find(part) != std::string::npos)
      weight.name = renamed(weight.name, {{".mlp.", "."}, {part, std::string(".mlp") + part}});
  return weight;
}

bool llama_redundant(std::string_view name) {
  return name == "lm_head.weight" || name.ends_with(".rotary_emb.inv_freq");
}

Family llama_family() { return like_llama("llama", read_biased_llama, write_llama_itself); }
Family mistral_family() { return like_llama("mistral", read_windowed_llama, write_mistral); }
Family qwen2_family() { return like_llama("qwen2", read_qwen2, write_qwen2); }
Family qwen3_family() { return like_llama("qwen3", read_qwen3, write_qwen3); }

Family qwen3_moe_family() {
  Family family = like_llama("qwen3_moe", read_qwen3_moe, write_qwen3_moe);
  family.stored = llama_moe_weight;
  return family;
}

}  // namespace heed::model
