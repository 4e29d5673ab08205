#include "heed/checkpoint/gguf_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/gguf_encoders.h"
#include "heed/checkpoint/gguf_end_tokens.h"
#include "heed/checkpoint/gguf_metadata.h"
#include "heed/checkpoint/gguf_weights.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/rotary_json.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMixtures[] = {"deepseek_v2", "deepseek_v3", "gpt_oss", "mixtral",
                                          "qwen3_moe"};

/// llama.cpp's windows of a model that is not causal reach another way than those of transformers.
bool is_causal(const ArchitectureMetadata& metadata) {
  const bool causal = metadata.get_or("attention.causal", true);
  require(causal || metadata.get_or<int64_t>("attention.sliding_window", 0) == 0,
          "{}: attention.causal is false, expected true with attention.sliding_window",
          metadata.file().name());
  return causal;
}

/// The part of config.json that Llama and similar families share.
Json like_llama(const ArchitectureMetadata& metadata, std::string_view model_type) {
  const io::GgufFile& file = metadata.file();
  const bool mixture = std::ranges::find(kMixtures, model_type) != std::end(kMixtures);
  require(metadata.get_or<int64_t>("expert_count", 0) == 0 || mixture,
          "{}: a mixture of experts is not supported for model_type {}", file.name(), model_type);
  return {{"model_type", model_type},
          {"vocab_size", vocabulary_size(file)},
          {"hidden_size", metadata.get<int64_t>("embedding_length")},
          {"num_hidden_layers", layers(metadata)},
          {"num_attention_heads", metadata.get<int64_t>("attention.head_count")},
          {"num_key_value_heads", metadata.json<int64_t>("attention.head_count_kv")},
          {"head_dim", metadata.json<int64_t>("attention.key_length")},
          {"intermediate_size", metadata.get<int64_t>("feed_forward_length")},
          {"hidden_act", "silu"},
          {"rms_norm_eps", metadata.get<double>("attention.layer_norm_rms_epsilon")},
          {"max_position_embeddings", metadata.get<int64_t>("context_length")},
          {"rope_theta", metadata.get_or("rope.freq_base", 10000.0)},
          {"rope_scaling", rotary_scaling(metadata)},
          {"is_causal", is_causal(metadata)},
          {"attention_bias", file.contains("blk.0.attn_q.bias")},
          {"mlp_bias", file.contains("blk.0.ffn_up.bias")},
          {"tie_word_embeddings", !file.contains("output.weight")},
          {"bos_token_id", token(file, "bos")},
          {"eos_token_id", token(file, "eos")},
          {"pad_token_id", token(file, "padding")}};
}

/// Mixtral's files are Llama's with experts.
Json mixtral(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "mixtral");
  json["num_local_experts"] = metadata.get<int64_t>("expert_count");
  json["num_experts_per_tok"] = metadata.get<int64_t>("expert_used_count");
  return json;
}

Json llama(const ArchitectureMetadata& metadata) {
  if (metadata.get_or<int64_t>("expert_count", 0) > 0) return mixtral(metadata);
  const auto window = metadata.get_or<int64_t>("attention.sliding_window", 0);
  Json json = like_llama(metadata, window > 0 ? "mistral" : "llama");
  if (window > 0) json["sliding_window"] = window;
  return json;
}

Json qwen2(const ArchitectureMetadata& metadata) { return like_llama(metadata, "qwen2"); }
Json qwen3(const ArchitectureMetadata& metadata) { return like_llama(metadata, "qwen3"); }

/// All published models normalise the weights of a token's experts.
Json qwen3moe(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "qwen3_moe");
  json.update({{"num_experts", metadata.get<int64_t>("expert_count")},
               {"num_experts_per_tok", metadata.get<int64_t>("expert_used_count")},
               {"moe_intermediate_size", metadata.get<int64_t>("expert_feed_forward_length")},
               {"norm_topk_prob", metadata.get_or("expert_weights_norm", true)}});
  return json;
}

/// The correction range of yarn, which the file does not have, is that of the published models.
Json gpt_oss(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "gpt_oss");
  json.update({{"num_local_experts", metadata.get<int64_t>("expert_count")},
               {"num_experts_per_tok", metadata.get<int64_t>("expert_used_count")},
               {"intermediate_size", metadata.get<int64_t>("expert_feed_forward_length")},
               {"sliding_window", metadata.get<int64_t>("attention.sliding_window")}});
  if (json["rope_scaling"].is_object())
    json["rope_scaling"]["truncate"] = false;
  else
    json["rope_parameters"] = Json::object();  // not the family's default
  return json;
}

Json granite(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "granite");
  json.update({{"attention_multiplier", metadata.get<double>("attention.scale")},
               {"embedding_multiplier", metadata.get_or("embedding_scale", 1.0)},
               {"residual_multiplier", metadata.get_or("residual_scale", 1.0)},
               {"logits_scaling", metadata.get<double>("logit_scale")}});
  return json;
}

/// A window is that of OLMo 3, whose files have the same architecture.
Json olmo2(const ArchitectureMetadata& metadata) {
  const auto window = metadata.get_or<int64_t>("attention.sliding_window", 0);
  require(window == 0, "{}: attention.sliding_window is {}, expected none for olmo2",
          metadata.file().name(), window);
  return like_llama(metadata, "olmo2");
}

/// Which layers have no positions is not in the file: every fourth, as in the published model.
Json smollm3(const ArchitectureMetadata& metadata) { return like_llama(metadata, "smollm3"); }

Json phi3(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "phi3");
  const auto heads = metadata.get<int64_t>("attention.head_count");
  const auto columns = metadata.get<int64_t>("embedding_length") / std::max<int64_t>(heads, 1);
  const auto rotated = metadata.get_or("rope.dimension_count", columns);
  json["partial_rotary_factor"] = model::partial_rotary_factor(rotated, columns);
  json["original_max_position_embeddings"] =
      metadata.json<int64_t>("rope.scaling.original_context_length");
  if (const auto window = metadata.get_or<int64_t>("attention.sliding_window", 0); window > 0)
    json["sliding_window"] = window;
  return json;
}

Json gemma(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "gemma");
  json["hidden_act"] = "gelu_pytorch_tanh";
  return json;
}

/// What Gemma 2 and 3 have in common. query_pre_attn_scalar is not in the file; it is different in
/// the largest models, which have `largest_layers`.
Json like_gemma2(const ArchitectureMetadata& metadata, std::string_view model_type,
                 int64_t largest_layers) {
  Json json = like_llama(metadata, model_type);
  const auto heads = metadata.get<int64_t>("attention.head_count");
  require(heads > 0, "{}: attention.head_count is {}, expected at least 1", metadata.file().name(),
          heads);
  const bool largest = json["num_hidden_layers"] == largest_layers;
  json["query_pre_attn_scalar"] = largest ? metadata.get<int64_t>("embedding_length") / heads
                                          : metadata.get<int64_t>("attention.key_length");
  return json;
}

Json gemma2(const ArchitectureMetadata& metadata) {
  Json json = like_gemma2(metadata, "gemma2", 46);
  json["attn_logit_softcapping"] = metadata.get_or("attn_logit_softcapping", 50.0);
  json["final_logit_softcapping"] = metadata.get_or("final_logit_softcapping", 30.0);
  json["sliding_window"] = metadata.get_or<int64_t>("attention.sliding_window", 4096);
  return json;
}

Json gemma3(const ArchitectureMetadata& metadata) {
  Json json = like_gemma2(metadata, "gemma3_text", 62);
  json["final_logit_softcapping"] = metadata.json<double>("final_logit_softcapping");
  json["sliding_window"] = metadata.json<int64_t>("attention.sliding_window");
  json["sliding_window_pattern"] = metadata.get_or<int64_t>("attention.sliding_window_pattern", 6);
  json["rope_local_base_freq"] = metadata.get_or("rope.freq_base_swa", 10000.0);
  return json;
}

/// The activation is not in the file; it is that of Pythia.
Json gptneox(const ArchitectureMetadata& metadata) {
  const io::GgufFile& file = metadata.file();
  const auto heads = metadata.get<int64_t>("attention.head_count");
  const auto width = metadata.get<int64_t>("embedding_length");
  const auto columns = width / std::max<int64_t>(heads, 1);
  const auto rotated = metadata.get_or("rope.dimension_count", columns);
  return {{"model_type", "gpt_neox"},
          {"vocab_size", vocabulary_size(file)},
          {"hidden_size", width},
          {"num_hidden_layers", layers(metadata)},
          {"num_attention_heads", heads},
          {"intermediate_size", metadata.get<int64_t>("feed_forward_length")},
          {"hidden_act", "gelu"},
          {"layer_norm_eps", metadata.get<double>("attention.layer_norm_epsilon")},
          {"use_parallel_residual", metadata.get_or("use_parallel_residual", true)},
          {"attention_bias", file.contains("blk.0.attn_qkv.bias")},
          {"max_position_embeddings", metadata.get<int64_t>("context_length")},
          {"rotary_emb_base", metadata.get_or("rope.freq_base", 10000.0)},
          {"rope_scaling", rotary_scaling(metadata)},
          {"is_causal", is_causal(metadata)},
          {"rotary_pct", model::partial_rotary_factor(rotated, columns)},
          {"tie_word_embeddings", !file.contains("output.weight")},
          {"bos_token_id", token(file, "bos")},
          {"eos_token_id", token(file, "eos")},
          {"pad_token_id", token(file, "padding")}};
}

Json gpt2(const ArchitectureMetadata& metadata) {
  const io::GgufFile& file = metadata.file();
  return {{"model_type", "gpt2"},
          {"vocab_size", vocabulary_size(file)},
          {"n_embd", metadata.get<int64_t>("embedding_length")},
          {"n_layer", layers(metadata)},
          {"n_head", metadata.get<int64_t>("attention.head_count")},
          {"n_inner", metadata.get<int64_t>("feed_forward_length")},
          {"activation_function", "gelu_new"},
          {"layer_norm_epsilon", metadata.get<double>("attention.layer_norm_epsilon")},
          {"n_positions", metadata.get<int64_t>("context_length")},
          {"is_causal", is_causal(metadata)},
          {"tie_word_embeddings", !file.contains("output.weight")},
          {"bos_token_id", token(file, "bos")},
          {"eos_token_id", token(file, "eos")},
          {"pad_token_id", token(file, "padding")}};
}

/// In older files, key_length and value_length are the widths of a head. In newer ones they are
/// those of the latents, and key_length_mla and value_length_mla those of a head.
Json deepseek2(const ArchitectureMetadata& metadata) {
  constexpr int64_t kSigmoid = 2;
  const bool third = metadata.get_or<int64_t>("expert_gating_func", 1) == kSigmoid;
  Json json = like_llama(metadata, third ? "deepseek_v3" : "deepseek_v2");
  const bool newer = metadata.contains("attention.key_length_mla");
  const auto key =
      metadata.get<int64_t>(newer ? "attention.key_length_mla" : "attention.key_length");
  const auto rotary = metadata.get<int64_t>("rope.dimension_count");
  require(rotary > 0 && rotary < key,
          "{}: {} of the {} columns of a key are rotated, expected some but not all",
          metadata.file().name(), rotary, key);
  const auto groups = metadata.get_or<int64_t>("expert_group_count", 1);
  json["num_key_value_heads"] = json["head_dim"] = nullptr;  // may be those of the latents
  json.update(
      {{"kv_lora_rank", metadata.get<int64_t>("attention.kv_lora_rank")},
       {"q_lora_rank", metadata.json<int64_t>("attention.q_lora_rank")},
       {"qk_rope_head_dim", rotary},
       {"qk_nope_head_dim", key - rotary},
       {"v_head_dim",
        metadata.get<int64_t>(newer ? "attention.value_length_mla" : "attention.value_length")},
       {"n_routed_experts", metadata.get<int64_t>("expert_count")},
       {"num_experts_per_tok", metadata.get<int64_t>("expert_used_count")},
       {"moe_intermediate_size", metadata.get<int64_t>("expert_feed_forward_length")},
       {"n_shared_experts", metadata.get_or<int64_t>("expert_shared_count", 0)},
       {"routed_scaling_factor", metadata.get_or("expert_weights_scale", 1.0)},
       {"norm_topk_prob", metadata.get_or("expert_weights_norm", false)},
       {"topk_method", third        ? "noaux_tc"
                       : groups > 1 ? "group_limited_greedy"
                                    : "greedy"},
       {"n_group", groups},
       {"topk_group", metadata.get_or<int64_t>("expert_group_used_count", groups)},
       {"first_k_dense_replace", metadata.get_or<int64_t>("leading_dense_block_count", 0)}});
  // The file has one number, divided by 10, for two that are equal in all published models.
  constexpr const char* kTemperature = "rope.scaling.yarn_log_multiplier";
  if (metadata.contains(kTemperature) && json["rope_scaling"].is_object())
    json["rope_scaling"]["mscale"] = json["rope_scaling"]["mscale_all_dim"] =
        metadata.get<double>(kTemperature) / 0.1;
  return json;
}

/// T5's and mT5's. The activation and relative_attention_max_distance are not in the file: they are
/// those of all published models. A gated network is that of version 1.1, which does not scale the
/// head's input; a file without a head has the embedding in its place.
Json t5(const ArchitectureMetadata& metadata) {
  const io::GgufFile& file = metadata.file();
  const auto encoder_layers = layers(metadata);
  const bool gated = file.contains("enc.blk.0.ffn_gate.weight");
  return {
      {"model_type", "t5"},
      {"vocab_size", vocabulary_size(file)},
      {"d_model", metadata.get<int64_t>("embedding_length")},
      {"num_layers", encoder_layers},
      {"num_decoder_layers", metadata.get_or("decoder_block_count", encoder_layers)},
      {"num_heads", metadata.get<int64_t>("attention.head_count")},
      {"d_kv", metadata.get<int64_t>("attention.key_length")},
      {"d_ff", metadata.get<int64_t>("feed_forward_length")},
      {"feed_forward_proj", gated ? "gated-gelu" : "relu"},
      {"layer_norm_epsilon", metadata.get<double>("attention.layer_norm_rms_epsilon")},
      {"relative_attention_num_buckets", metadata.get<int64_t>("attention.relative_buckets_count")},
      {"tie_word_embeddings", !file.contains("output.weight")},
      {"scale_decoder_outputs", !gated && !file.contains("output.weight")},
      {"decoder_start_token_id", metadata.get_or<int64_t>("decoder_start_token_id", 0)},
      {"bos_token_id", token(file, "bos")},
      {"eos_token_id", token(file, "eos")},
      {"pad_token_id", metadata.get_or<int64_t>("decoder_start_token_id", 0)}};
}

Json t5encoder(const ArchitectureMetadata& metadata) {
  Json json = t5(metadata);
  json["architectures"] = {"T5EncoderModel"};
  return json;
}

struct Architecture {
  std::string_view name;
  Json (*config)(const ArchitectureMetadata& metadata);
};
constexpr Architecture kArchitectures[] = {{"llama", llama},
                                           {"qwen2", qwen2},
                                           {"qwen3", qwen3},
                                           {"gemma2", gemma2},
                                           {"gpt2", gpt2},
                                           {"deepseek2", deepseek2},
                                           {"qwen3moe", qwen3moe},
                                           {"gemma", gemma},
                                           {"gemma3", gemma3},
                                           {"granite", granite},
                                           {"olmo2", olmo2},
                                           {"smollm3", smollm3},
                                           {"phi3", phi3},
                                           {"gptneox", gptneox},
                                           {"gpt-oss", gpt_oss},
                                           {"t5", t5},
                                           {"t5encoder", t5encoder},
                                           {"bert", bert_config},
                                           {"nomic-bert", nomic_bert_config},
                                           {"modern-bert", modern_bert_config}};

const Architecture& architecture_named(const std::string& name, const std::string& file) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", architecture.name);
  }
  fail("{}: general.architecture is {}, expected one of {}", file, quoted(name), known);
}

/// Throws Error when another part of each head is rotated than the configuration says.
void check_rotary(const ArchitectureMetadata& metadata, const model::ModelConfig& config) {
  const int64_t expected =
      config.latent.present() ? config.latent.qk_rope_head_dim : config.rotary_dim;
  const auto found = metadata.get_or<int64_t>("rope.dimension_count", expected);
  require(config.positions != model::PositionKind::rotary || found == expected,
          "{}: rope.dimension_count is {}, expected {}", metadata.file().name(), found, expected);
}

/// Adds those that eos_token_id does not name.
void add_end_tokens(const io::GgufFile& file, model::ModelConfig& config) {
  for (const int64_t id : gguf_end_tokens(file.metadata())) {
    if (id >= config.vocab_size || id == config.eos_id) continue;
    if (config.eos_id < 0)
      config.eos_id = static_cast<int32_t>(id);
    else
      config.other_eos_ids.push_back(id);
  }
}

}  // namespace

GgufModel open_gguf_model(const std::filesystem::path& path) {
  const auto file = io::GgufFile::open(path);
  const auto name = file->metadata().get<std::string>("general.architecture");
  const ArchitectureMetadata metadata(*file, name);
  const Json json = architecture_named(name, file->name()).config(metadata);
  const auto model_type = get<std::string>(json, "model_type", file->name());
  GgufModel model{
      .config = {}, .family = model::family_of_type(model_type, file->name()), .weights = nullptr};
  model::ConfigReader reader(json, file->name());
  reader.understand_all();
  model.config = model.family.read_config(reader);
  model.config.family = model_type;
  // Files state no rates.
  model.config.dropout = model.config.attention_dropout = model.config.activation_dropout = 0.0f;
  if (model.config.decoder_layers > 0) add_end_tokens(*file, model.config);
  try {
    model.config.validate();
  } catch (const Error& error) {
    fail("{}: {}", file->name(), error.what());
  }
  set_gguf_classifier(*file, model.config);
  check_rotary(metadata, model.config);
  for (std::string& warning : metadata.warnings())
    model.config.warnings.push_back(std::move(warning));
  model.family.stored = gguf_weight;
  model.family.redundant = gguf_redundant;
  model.family.prefix = {};
  model.weights = gguf_weights(file, model.config);
  return model;
}

}  // namespace heed::checkpoint
