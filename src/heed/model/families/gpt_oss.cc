#include "heed/model/families/known.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"
#include "heed/model/gguf/metadata.h"

namespace heed::model {
namespace {

using io::GgufType;

/// The one activation that the published models have.
void require_clamped_swiglu(ConfigReader& json) {
  const auto act = json.get_or<std::string>("hidden_act", "silu");
  require(act == "silu", "{}: hidden_act is {}, expected silu", json.file(), quoted(act));
  const auto check = [&](const char* key, double expected) {
    const double found = json.get_or(key, expected);
    require(std::abs(found - expected) < 1e-6, "{}: {} is {}, expected {}", json.file(), key, found,
            expected);
  };
  check("swiglu_alpha", 1.702);
  check("swiglu_limit", 7.0);
}

/// Without any rotary field, the scaling is that of the published models.
void set_rotary_default(ConfigReader& json) {
  if (json.states("rope_parameters")) return;
  json.set("rope_parameters", {{"rope_type", "yarn"},
                               {"factor", 32.0},
                               {"beta_fast", 32.0},
                               {"beta_slow", 1.0},
                               {"truncate", false},
                               {"original_max_position_embeddings", 4096}});
}

ModelConfig read_gpt_oss(ConfigReader& json) {
  require_clamped_swiglu(json);
  json.set_defaults({{"rms_norm_eps", 1e-5},
                     {"head_dim", 64},
                     {"num_key_value_heads", 8},
                     {"max_position_embeddings", 131072},
                     {"sliding_window", 128},
                     {"bos_token_id", nullptr},
                     {"eos_token_id", nullptr}});
  if (!json.states("rope_scaling")) set_rotary_default(json);
  // Of the published files: the same as other fields and the names of layers.
  json.understand({"initial_context_length", "experts_per_token", "swiglu_limit"});
  ModelConfig c = read_llama(json, {.default_theta = 150000.0});
  c.activation = kernels::Activation::clamped_swiglu;
  c.qkv_bias = c.o_bias = json.get_or("attention_bias", true);
  c.ff_bias = true;
  c.attention_sinks = true;
  c.windows = read_windows(json, c.decoder_layers, [](int64_t layer) { return layer % 2 == 0; });
  json.take_alias("num_experts", "num_local_experts");
  c.moe = {.n_experts = json.get_or<int64_t>("num_local_experts", 128),
           .experts_per_token = json.get_or<int64_t>("num_experts_per_tok", 4),
           .d_expert = c.d_ff,
           .norm_topk_prob = true,
           .router_bias = true};
  return c;
}

nlohmann::json write_gpt_oss(const ModelConfig& c) {
  nlohmann::json json = write_llama(c, "gpt_oss", "GptOssForCausalLM");
  write_windows(c, json);
  if (c.windows.empty())
    json["layer_types"] =
        std::vector<std::string>(static_cast<size_t>(c.decoder_layers), "full_attention");
  json.update({{"hidden_act", "silu"},
               {"swiglu_limit", kernels::kSwigluLimit},
               {"attention_bias", c.qkv_bias},
               {"intermediate_size", c.moe.d_expert},
               {"num_local_experts", c.moe.n_experts},
               {"num_experts_per_tok", c.moe.experts_per_token}});
  return json;
}

/// A parameter of an expert: its number, and the name without it.
struct ExpertName {
  int64_t expert;
  std::string in_all;  // "model.layers.0.mlp.experts.gate_proj.weight"
};

ExpertName expert_name(const std::string& name) {
  constexpr std::string_view kExperts = ".experts.";
  const size_t begin = name.find(kExperts), number = begin + kExperts.size();
  ExpertName result{0, {}};
  std::from_chars(name.data() + number, name.data() + name.size(), result.expert);
  result.in_all = renamed(name.substr(0, begin), {{"model.decoder.", "model."}}) + ".mlp.experts" +
                  name.substr(name.find('.', number));
  return result;
}

bool is_of_expert(const std::string& name) { return name.find(".experts.") != std::string::npos; }

/// The rows of gates and of the other projection alternate.
bool alternates(const std::string& name) {
  return name.find(".gate_proj.") != std::string::npos ||
         name.find(".up_proj.") != std::string::npos;
}

/// A tensor holds all experts, and a matrix lies in it as [in, out].
StoredWeight all_experts_weight(const ModelConfig& config, const std::string& name,
                                const Shape& shape) {
  const auto [expert, in_all] = expert_name(name);
  const bool pair = alternates(name);
  const int64_t experts = config.moe.n_experts, rows = (pair ? 2 : 1) * shape[0];
  const bool matrix = shape.rank() == 2;
  StoredWeight weight{.name = renamed(in_all, {{".gate_proj.", ".gate_up_proj."},
                                               {".up_proj.", ".gate_up_proj."},
                                               {".weight", ""},
                                               {".bias", "_bias"}}),
                      .shape = matrix ? Shape{experts, shape[1], rows} : Shape{experts, rows},
                      .transposed = matrix,
                      .first_row = expert * rows};
  if (!pair) return weight;
  weight.first_row += name.find(".up_proj.") != std::string::npos ? 1 : 0;
  weight.block_rows = 1;
  weight.block_stride = 2;
  return weight;
}

StoredWeight gpt_oss_weight(const ModelConfig& config, const std::string& name,
                            const Shape& shape) {
  if (is_of_expert(name)) return all_experts_weight(config, name, shape);
  return llama_weight(config, renamed(name, {{".router.", ".mlp.router."}}), shape);
}

/// In MXFP4 the matrices lie as [out, in], each expert's own (checkpoint/mxfp4_experts.h).
StoredWeight gpt_oss_mxfp4_weight(const ModelConfig& config, const std::string& name,
                                  const Shape& shape) {
  StoredWeight weight = gpt_oss_weight(config, name, shape);
  if (!is_of_expert(name) || shape.rank() == 1) return weight;
  const int64_t expert = expert_name(name).expert, rows = weight.shape[2];
  weight.name = renamed(weight.name, {{".experts.", fmt::format(".experts.{}.", expert)}});
  weight.shape = {rows, shape[1]};
  weight.transposed = false;
  weight.first_row -= expert * rows;
  return weight;
}

/// The correction range of yarn, which the file does not have, is that of the published models.
constexpr MetadataField kGgufGptOss[] = {
    required("expert_count", "num_local_experts", GgufType::u32),
    required("expert_used_count", "num_experts_per_tok", GgufType::u32),
    required("expert_feed_forward_length", "intermediate_size", GgufType::u32),
    required("attention.sliding_window", "sliding_window", GgufType::u32)};

void read_gguf_gpt_oss(const ArchitectureMetadata& metadata, nlohmann::json& config) {
  read_gguf_llama_moe(metadata, config);
  if (config["rope_scaling"].is_object())
    config["rope_scaling"]["truncate"] = false;
  else
    config["rope_parameters"] = nlohmann::json::object();  // not the family's default
}

StoredWeight gguf_gpt_oss_weight(const ModelConfig& config, const std::string& name,
                                 const Shape& shape) {
  StoredWeight weight = gguf_decoder_weight(config, name, shape);
  weight.name = renamed(weight.name, {{".ffn_norm.", ".post_attention_norm."}});
  return weight;
}

Family plain_gpt_oss() {
  Family family = like_llama("gpt_oss", read_gpt_oss, write_gpt_oss, gpt_oss_weight,
                             {.architectures = {"gpt-oss"},
                              .fields = {kGgufLlama, kGgufGptOss},
                              .read = read_gguf_gpt_oss,
                              .stored = gguf_gpt_oss_weight});
  family.stored_mxfp4 = gpt_oss_mxfp4_weight;
  return family;
}

}  // namespace

/// gpt-oss (OpenAI, 2025): attention sinks, every other layer with a window, and in each layer a
/// mixture of experts, whose weights are published in MXFP4.
Family gpt_oss_family() { return maybe_bidirectional<plain_gpt_oss>(); }

}  // namespace heed::model
