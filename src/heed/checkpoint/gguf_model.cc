#include "heed/checkpoint/gguf_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/checkpoint/gguf_weights.h"
#include "heed/kernels/as_f32.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;

/// The metadata of a file under keys that begin with its architecture.
class ArchitectureMetadata {
 public:
  ArchitectureMetadata(const io::GgufFile& file, std::string architecture)
      : file_(file), architecture_(std::move(architecture)) {}

  const io::GgufFile& file() const { return file_; }
  bool contains(const char* key) const { return file_.metadata().contains(full(key)); }
  template <typename T>
  T get(const char* key) const {
    return file_.metadata().get<T>(full(key));
  }
  template <typename T>
  T get_or(const char* key, T otherwise) const {
    return file_.metadata().get_or<T>(full(key), otherwise);
  }
  /// null where there is none.
  template <typename T>
  Json json(const char* key) const {
    return contains(key) ? Json(get<T>(key)) : Json();
  }

 private:
  std::string full(const char* key) const { return architecture_ + "." + key; }

  const io::GgufFile& file_;
  std::string architecture_;
};

/// The file has the divisor of each rotary frequency instead of Llama 3.1's rope_scaling. All
/// published models have low_freq_factor 1 and high_freq_factor 4; the divisors give the rest.
Json llama3_scaling(const Tensor& divisors, double theta, const std::string& where) {
  constexpr double kLow = 1.0, kHigh = 4.0;
  const std::span<const float> d = divisors.values<float>();
  const double factor = d.empty() ? 1.0 : *std::ranges::max_element(d);
  if (factor <= 1.0) return {};
  const auto wavelength = [&](size_t pair) {
    const double exponent = static_cast<double>(pair) / static_cast<double>(d.size());
    return 2.0 * std::numbers::pi * std::pow(theta, exponent);
  };
  double sum = 0.0, blended = 0.0;
  for (size_t pair = 0; pair < d.size(); ++pair) {
    if (d[pair] < 1.001 || d[pair] > 0.999 * factor) continue;
    const double kept = (1.0 / d[pair] - 1.0 / factor) / (1.0 - 1.0 / factor);
    sum += wavelength(pair) * (kept * (kHigh - kLow) + kLow);
    ++blended;
  }
  require(blended > 0.0, "{}: no divisor is between 1 and {}, so this is not Llama 3's scaling",
          where, factor);
  const double original = std::round(sum / blended);
  require(original >= 1.0 && original < 1e9,
          "{}: Llama 3's scaling from {} positions is not plausible", where, original);
  for (size_t pair = 0; pair < d.size(); ++pair) {
    const double kept = std::clamp((original / wavelength(pair) - kLow) / (kHigh - kLow), 0.0, 1.0);
    const double expected = 1.0 / ((1.0 - kept) / factor + kept);
    require(std::abs(expected - d[pair]) < 1e-3 * expected,
            "{}: divisor {} is {}, expected {} for Llama 3's scaling by {} from {} positions",
            where, pair, d[pair], expected, factor, original);
  }
  return {{"rope_type", "llama3"},
          {"factor", factor},
          {"low_freq_factor", kLow},
          {"high_freq_factor", kHigh},
          {"original_max_position_embeddings", static_cast<int64_t>(original)}};
}

Json rotary_scaling(const ArchitectureMetadata& metadata) {
  const auto type = metadata.get_or<std::string>("rope.scaling.type", "none");
  constexpr const char* kDivisors = "rope_freqs.weight";
  if (type == "none" && metadata.file().contains(kDivisors))
    return llama3_scaling(kernels::as_f32(metadata.file().get(kDivisors)),
                          metadata.get_or("rope.freq_base", 10000.0),
                          metadata.file().name() + ": " + kDivisors);
  if (type == "none") return {};
  Json scaling = {{"rope_type", type}, {"factor", metadata.json<double>("rope.scaling.factor")}};
  const auto copy = [&](const char* to, const char* from) {
    if (metadata.contains(from)) scaling[to] = metadata.get<double>(from);
  };
  if (metadata.contains("rope.scaling.original_context_length"))
    scaling["original_max_position_embeddings"] =
        metadata.get<int64_t>("rope.scaling.original_context_length");
  copy("beta_fast", "rope.scaling.yarn_beta_fast");
  copy("beta_slow", "rope.scaling.yarn_beta_slow");
  copy("attention_factor", "rope.scaling.yarn_attn_factor");
  return scaling;
}

/// The rows of the embedding: not all files state the size of the vocabulary.
int64_t vocabulary_size(const io::GgufFile& file) {
  const Shape& shape = file.entry("token_embd.weight").shape;
  require(shape.rank() == 2, "{}: token_embd.weight is {}, expected a matrix", file.name(),
          shape.text());
  return shape[0];
}

/// Throws Error on more layers than tensors, before memory is allocated for the layers.
int64_t layers(const ArchitectureMetadata& metadata) {
  const auto count = metadata.get<int64_t>("block_count");
  const auto tensors = static_cast<int64_t>(metadata.file().names().size());
  require(count > 0 && count <= tensors,
          "{}: block_count is {}, expected 1 to {}, the number of tensors", metadata.file().name(),
          count, tensors);
  return count;
}

Json token(const io::GgufFile& file, const std::string& which) {
  const std::string key = "tokenizer.ggml." + which + "_token_id";
  return file.metadata().contains(key) ? Json(file.metadata().get<int64_t>(key)) : Json();
}

/// The part of config.json that Llama and similar families share.
Json like_llama(const ArchitectureMetadata& metadata, std::string_view model_type) {
  const io::GgufFile& file = metadata.file();
  require(metadata.get_or<int64_t>("expert_count", 0) == 0 || model_type == "deepseek_v2",
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
          {"attention_bias", file.contains("blk.0.attn_q.bias")},
          {"mlp_bias", file.contains("blk.0.ffn_up.bias")},
          {"tie_word_embeddings", !file.contains("output.weight")},
          {"bos_token_id", token(file, "bos")},
          {"eos_token_id", token(file, "eos")},
          {"pad_token_id", token(file, "padding")}};
}

Json llama(const ArchitectureMetadata& metadata) {
  const auto window = metadata.get_or<int64_t>("attention.sliding_window", 0);
  Json json = like_llama(metadata, window > 0 ? "mistral" : "llama");
  if (window > 0) json["sliding_window"] = window;
  return json;
}

Json qwen2(const ArchitectureMetadata& metadata) { return like_llama(metadata, "qwen2"); }
Json qwen3(const ArchitectureMetadata& metadata) { return like_llama(metadata, "qwen3"); }

/// query_pre_attn_scalar is not in the file; it is different in the largest of the three models.
Json gemma2(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "gemma2");
  const auto heads = metadata.get<int64_t>("attention.head_count");
  require(heads > 0, "{}: attention.head_count is {}, expected at least 1", metadata.file().name(),
          heads);
  const bool largest = json["num_hidden_layers"] == 46;
  json["query_pre_attn_scalar"] = largest ? metadata.get<int64_t>("embedding_length") / heads
                                          : metadata.get<int64_t>("attention.key_length");
  json["attn_logit_softcapping"] = metadata.get_or("attn_logit_softcapping", 50.0);
  json["final_logit_softcapping"] = metadata.get_or("final_logit_softcapping", 30.0);
  json["sliding_window"] = metadata.get_or<int64_t>("attention.sliding_window", 4096);
  return json;
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
          {"tie_word_embeddings", !file.contains("output.weight")},
          {"bos_token_id", token(file, "bos")},
          {"eos_token_id", token(file, "eos")},
          {"pad_token_id", token(file, "padding")}};
}

/// In older files, key_length and value_length are the widths of a head. In newer ones they are
/// those of the latents, and key_length_mla and value_length_mla those of a head.
Json deepseek2(const ArchitectureMetadata& metadata) {
  Json json = like_llama(metadata, "deepseek_v2");
  const bool newer = metadata.contains("attention.key_length_mla");
  const auto key =
      metadata.get<int64_t>(newer ? "attention.key_length_mla" : "attention.key_length");
  const auto rotary = metadata.get<int64_t>("rope.dimension_count");
  require(rotary > 0 && rotary < key,
          "{}: {} of the {} columns of a key are rotated, expected some but not all",
          metadata.file().name(), rotary, key);
  const auto groups = metadata.get_or<int64_t>("expert_group_count", 1);
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
       {"scoring_func",
        metadata.get_or<int64_t>("expert_gating_func", 1) == 1 ? "softmax" : "sigmoid"},
       {"topk_method", groups > 1 ? "group_limited_greedy" : "greedy"},
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

struct Architecture {
  std::string_view name;
  Json (*config)(const ArchitectureMetadata& metadata);
};
constexpr Architecture kArchitectures[] = {{"llama", llama}, {"qwen2", qwen2},
                                           {"qwen3", qwen3}, {"gemma2", gemma2},
                                           {"gpt2", gpt2},   {"deepseek2", deepseek2}};

const Architecture& architecture_named(const std::string& name, const std::string& file) {
  std::string known;
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.name == name) return architecture;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", architecture.name);
  }
  fail("{}: general.architecture is {}, expected one of {}", file, quoted(name), known);
}

/// Throws Error when only a part of each head is rotated, which none of these architectures does.
void check_rotary(const ArchitectureMetadata& metadata, const model::ModelConfig& config) {
  const int64_t expected =
      config.latent.present() ? config.latent.qk_rope_head_dim : config.head_dim;
  const auto found = metadata.get_or<int64_t>("rope.dimension_count", expected);
  require(config.positions != model::PositionKind::rotary || found == expected,
          "{}: rope.dimension_count is {}, expected {}", metadata.file().name(), found, expected);
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
  model.config = model.family.read_config(json, file->name());
  model.config.family = model_type;
  try {
    model.config.validate();
  } catch (const Error& error) {
    fail("{}: {}", file->name(), error.what());
  }
  check_rotary(metadata, model.config);
  model.family.stored = gguf_weight;
  model.family.redundant = gguf_redundant;
  model.family.prefix = {};
  model.weights = gguf_weights(file, model.config);
  return model;
}

}  // namespace heed::checkpoint
