#include "heed/model/families/llama.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/known.h"
#include "heed/model/families/rotary_json.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

/// The same window in all layers, if there is one.
std::vector<int64_t> same_windows(int64_t window, int64_t layers) {
  if (window == 0 || layers < 0 || layers > kMaxLayers) return {};
  return std::vector<int64_t>(static_cast<size_t>(layers), window);
}

ModelConfig read_llama_itself(ConfigReader& json) { return read_biased_llama(json); }

nlohmann::json write_llama_itself(const ModelConfig& c) {
  return write_biased_llama(c, "llama", "LlamaForCausalLM");
}

nlohmann::json write_mistral(const ModelConfig& c) {
  return write_windowed_llama(c, "mistral", "MistralForCausalLM");
}

/// Only "use_sliding_window" makes the other fields count.
void read_qwen_windows(ConfigReader& json, ModelConfig& c) {
  json.set_defaults({{"sliding_window", 4096}});
  const auto first = json.get_or<int64_t>("max_window_layers", 28);
  if (!json.get_or("use_sliding_window", false)) json.set("sliding_window", nullptr);
  c.windows =
      read_windows(json, c.decoder_layers, [first](int64_t layer) { return layer >= first; });
}

void write_qwen_windows(const ModelConfig& c, nlohmann::json& json) {
  write_windows(c, json);
  json["use_sliding_window"] = !c.windows.empty();
}

/// Qwen2 has biases only of q, k and v.
ModelConfig read_qwen2(ConfigReader& json) {
  json.set_defaults({{"num_key_value_heads", 32},
                     {"max_position_embeddings", 32768},
                     {"bos_token_id", nullptr},
                     {"eos_token_id", nullptr}});
  ModelConfig c = read_llama(json);
  c.qkv_bias = true;
  read_qwen_windows(json, c);
  return c;
}

nlohmann::json write_qwen2(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "qwen2", "Qwen2ForCausalLM");
  json.erase("head_dim");  // Qwen2's heads share d_model
  write_qwen_windows(c, json);
  return json;
}

ModelConfig read_qwen3(ConfigReader& json) {
  json.set_defaults({{"num_key_value_heads", 32},
                     {"head_dim", 128},
                     {"max_position_embeddings", 32768},
                     {"bos_token_id", nullptr},
                     {"eos_token_id", nullptr}});
  ModelConfig c = read_attention_biased_llama(json);
  c.qk_norm = true;
  read_qwen_windows(json, c);
  return c;
}

nlohmann::json write_qwen3(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "qwen3", "Qwen3ForCausalLM");
  json["attention_bias"] = c.qkv_bias;
  write_qwen_windows(c, json);
  return json;
}

/// heed has no models in which only some layers are mixtures of experts.
void require_all_moe(ConfigReader& json) {
  const auto step = json.get_or<int64_t>("decoder_sparse_step", 1);
  require(step == 1,
          "{}: decoder_sparse_step is {}, expected 1: every layer has to be a mixture of experts",
          json.file(), step);
  const auto dense = json.get_or("mlp_only_layers", std::vector<int64_t>());
  require(dense.empty(),
          "{}: mlp_only_layers is {}, expected []: every layer has to be a mixture of experts",
          json.file(), excerpt(json.value("mlp_only_layers")));
}

/// Its layers slide all or none.
ModelConfig read_qwen3_moe(ConfigReader& json) {
  json.set_defaults({{"num_key_value_heads", 4},
                     {"max_position_embeddings", 32768},
                     {"sliding_window", 4096},
                     {"bos_token_id", nullptr},
                     {"eos_token_id", nullptr}});
  require_all_moe(json);
  json.take_alias("num_local_experts", "num_experts");
  json.understand({"max_window_layers"});  // published files have Qwen3's
  ModelConfig c = read_attention_biased_llama(json);
  c.qk_norm = true;
  const auto window = json.get_or<int64_t>("sliding_window", 0);
  if (json.get_or("use_sliding_window", false)) c.windows = same_windows(window, c.decoder_layers);
  c.moe = {.n_experts = json.get_or<int64_t>("num_experts", 128),
           .experts_per_token = json.get_or<int64_t>("num_experts_per_tok", 8),
           .d_expert = json.get_or<int64_t>("moe_intermediate_size", 768),
           .norm_topk_prob = json.get_or("norm_topk_prob", false)};
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
  json.erase("layer_types");  // the layers all slide
  return json;
}

ModelConfig read_mistral(ConfigReader& json) {
  json.set_defaults(
      {{"num_key_value_heads", 8}, {"max_position_embeddings", 131072}, {"sliding_window", 4096}});
  ModelConfig c = read_llama(json);
  // With "layer_types" it is Ministral, which transformers reads under both names.
  c.windows = read_windows(json, c.decoder_layers, [](int64_t) { return true; });
  return c;
}

/// All published models normalise the weights of a token's experts.
constexpr MetadataField kGgufQwen3Moe[] = {
    required("expert_count", "num_experts", GgufType::u32),
    required("expert_used_count", "num_experts_per_tok", GgufType::u32),
    required("expert_feed_forward_length", "moe_intermediate_size", GgufType::u32),
    with_default("expert_weights_norm", "norm_topk_prob", GgufType::boolean, true)};

/// A window is that of a Mistral.
bool gguf_has_window(const ArchitectureMetadata& metadata) {
  return metadata.get_or<int64_t>("expert_count", 0) == 0 &&
         metadata.get_or<int64_t>("attention.sliding_window", 0) > 0;
}

constexpr MetadataField kGgufMistral[] = {
    required("attention.sliding_window", "sliding_window", GgufType::u32)};

}  // namespace

ModelConfig read_llama(ConfigReader& json, const RotaryFields& rotary) {
  json.set_defaults({{"hidden_act", "silu"}, {"bos_token_id", 1}, {"eos_token_id", 2}});
  ModelConfig c;
  c.vocab_size = json.get<int64_t>("vocab_size");
  c.d_model = json.get<int64_t>("hidden_size");
  c.encoder_layers = 0;
  c.decoder_layers = json.get<int64_t>("num_hidden_layers");
  c.n_heads = json.get<int64_t>("num_attention_heads");
  c.n_kv_heads = json.get_or("num_key_value_heads", c.n_heads);
  c.head_dim = c.v_head_dim = json.get_or<int64_t>("head_dim", 0);
  c.d_ff = json.get<int64_t>("intermediate_size");
  c.activation = read_activation(json, "hidden_act");
  c.gated = true;
  c.norm = nn::NormKind::rms;
  c.norm_placement = nn::NormPlacement::pre;
  c.norm_epsilon = static_cast<float>(json.get_or("rms_norm_eps", 1e-6));
  c.qkv_bias = c.o_bias = c.ff_bias = c.head_bias = false;
  c.max_positions = json.get_or<int64_t>("max_position_embeddings", 2048);
  c.scale_embedding = false;
  c.tied_head = json.get_or("tie_word_embeddings", false);
  c.dropout = 0.0f;
  c.attention_dropout = read_rate(json, "attention_dropout");
  read_decoder_tokens(json, c);
  read_rotary(json, rotary, c);
  return c;
}

ModelConfig read_windowed_llama(ConfigReader& json, const RotaryFields& rotary) {
  ModelConfig c = read_llama(json, rotary);
  c.windows = same_windows(json.get_or<int64_t>("sliding_window", 0), c.decoder_layers);
  return c;
}

ModelConfig read_attention_biased_llama(ConfigReader& json, const RotaryFields& rotary) {
  ModelConfig c = read_llama(json, rotary);
  c.qkv_bias = c.o_bias = json.get_or("attention_bias", false);
  return c;
}

ModelConfig read_biased_llama(ConfigReader& json, const RotaryFields& rotary) {
  ModelConfig c = read_attention_biased_llama(json, rotary);
  c.ff_bias = json.get_or("mlp_bias", false);
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
                         {"torch_dtype", "float32"}};
  write_decoder_tokens(c, json);
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
  if (std::ranges::count(c.windows, 0) == 0) json.erase("layer_types");  // the layers all slide
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

Family like_llama(std::string_view type, ModelConfig (*read)(ConfigReader&),
                  nlohmann::json (*write)(const ModelConfig&), StoredTable stored, GgufForm gguf) {
  return {.model_type = type,
          .read = read,
          .write_config = write,
          .stored = stored,
          .prefix = "model.",
          // Tables in older files.
          .redundant = [](std::string_view name) { return name.ends_with(".rotary_emb.inv_freq"); },
          .gguf = std::move(gguf)};
}

void read_gguf_llama_moe(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  const io::GgufFile& file = metadata.file();
  set_decoder_fields(metadata, config);
  config.update({{"num_hidden_layers", layers(metadata)},
                 {"hidden_act", "silu"},
                 {"rope_scaling", rotary_scaling(metadata)},
                 {"attention_bias", file.contains("blk.0.attn_q.bias")},
                 {"mlp_bias", file.contains("blk.0.ffn_up.bias")}});
}

void read_gguf_llama(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  require(metadata.get_or<int64_t>("expert_count", 0) == 0,
          "{}: a mixture of experts is not supported for the architecture {}",
          metadata.file().name(), metadata.architecture());
  read_gguf_llama_moe(metadata, config);
}

namespace {

Family plain_llama() {
  return like_llama("llama", read_llama_itself, write_llama_itself, llama_weight,
                    {.architectures = {"llama"},
                     .fields = {kGgufLlama},
                     .read = read_gguf_llama,
                     .in_pairs = true});
}

Family plain_mistral() {
  return like_llama("mistral", read_mistral, write_mistral, llama_weight,
                    {.architectures = {"llama"},
                     .holds = gguf_has_window,
                     .fields = {kGgufLlama, kGgufMistral},
                     .read = read_gguf_llama,
                     .in_pairs = true});
}

Family plain_qwen2() {
  return like_llama("qwen2", read_qwen2, write_qwen2, llama_weight,
                    {.architectures = {"qwen2"}, .fields = {kGgufLlama}, .read = read_gguf_llama});
}

Family plain_qwen3() {
  return like_llama("qwen3", read_qwen3, write_qwen3, llama_weight,
                    {.architectures = {"qwen3"}, .fields = {kGgufLlama}, .read = read_gguf_llama});
}

Family plain_qwen3_moe() {
  return like_llama("qwen3_moe", read_qwen3_moe, write_qwen3_moe, llama_moe_weight,
                    {.architectures = {"qwen3moe"},
                     .fields = {kGgufLlama, kGgufQwen3Moe},
                     .read = read_gguf_llama_moe});
}

}  // namespace

/// Llama 2 and 3 (Touvron et al. 2023; Llama 3, 2024): pre-norm RMSNorm, rotary positions, gated
/// SiLU, grouped key/value heads.
Family llama_family() { return with_classifier<maybe_bidirectional<plain_llama>>(); }

/// The same with a sliding window (Jiang et al. 2023).
Family mistral_family() { return with_classifier<maybe_bidirectional<plain_mistral>>(); }

/// The same with biases of queries, keys and values (Qwen2, 2024).
Family qwen2_family() { return with_classifier<maybe_bidirectional<plain_qwen2>>(); }

/// The same with normalised queries and keys (Qwen3, 2025).
Family qwen3_family() { return with_classifier<maybe_bidirectional<plain_qwen3>>(); }

/// The same with a mixture of experts in each layer (Qwen3, 2025).
Family qwen3_moe_family() { return with_classifier<maybe_bidirectional<plain_qwen3_moe>>(); }

}  // namespace heed::model
